// SPDX-License-Identifier: Apache-2.0

let lastSecond = Number.NaN
let lastText = ''

/** Formats a time as the API does: whole seconds. Cached, because many calls are within the same second. */
export function timestamp(epochMs: number): string {
  const second = Math.floor(epochMs / 1_000)
  if (second !== lastSecond) {
    lastText = new Date(second * 1_000).toISOString().replace('.000Z', 'Z')
    lastSecond = second
  }
  return lastText
}
