// SPDX-License-Identifier: Apache-2.0

export const pollIntervalMs = 20

/**
 * Waits until a count has not changed for this time. It counts polls instead of reading a clock: on a busy machine,
 * polls and changes are delayed alike.
 */
export async function untilUnchanged(count: () => number, forMs: number): Promise<void> {
  let before = Number.NaN
  for (let still = 0; still * pollIntervalMs < forMs; ) {
    await new Promise(resolve => setTimeout(resolve, pollIntervalMs))
    const now = count()
    still = now === before ? still + 1 : 0
    before = now
  }
}
