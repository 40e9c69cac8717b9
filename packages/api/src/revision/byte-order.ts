// SPDX-License-Identifier: Apache-2.0

/**
 * Compares strings by their UTF-8 bytes, as Go does. JavaScript compares UTF-16 units. The order differs between
 * surrogate pairs and characters above U+DFFF.
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

/** Sorts surrogates, which encode the highest code points, after all other units. */
function rank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit
}
