// SPDX-License-Identifier: Apache-2.0

/**
 * Compares texts by their UTF-8 bytes, which is how Go sorts. JavaScript compares UTF-16 units, and that differs
 * where a surrogate pair meets a character above U+DFFF.
 */
export function compareBytes(left: string, right: string): number {
  if (left === right) return 0
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index)
    const b = right.charCodeAt(index)
    if (a !== b) return rank(a) - rank(b)
  }
  return left.length - right.length
}

/** Moves surrogates, which stand for the highest code points, behind all other units. */
function rank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit
}
