// SPDX-License-Identifier: Apache-2.0

let lastSecond = Number.NaN
let lastText = ''

/** A moment as the API writes it: whole seconds. Asked for very often within one second. */
export function timestamp(epochMs: number): string {
  const second = Math.floor(epochMs / 1_000)
  if (second !== lastSecond) {
    lastText = new Date(second * 1_000).toISOString().replace('.000Z', 'Z')
    lastSecond = second
  }
  return lastText
}
