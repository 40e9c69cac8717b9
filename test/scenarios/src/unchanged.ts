// SPDX-License-Identifier: Apache-2.0

import type { SkippingClock } from './skipping-clock.ts'

export const pollIntervalMs = 20
/** With a clock that can skip time, this much elapses in addition between two polls. */
const skipPerPollMs = 40

/**
 * Waits until a count has not changed for this time. It counts polls instead of reading a clock: on a busy machine,
 * polls and changes are delayed alike.
 */
export async function untilUnchanged(
  count: () => number,
  forMs: number,
  clock?: SkippingClock,
): Promise<void> {
  const perPollMs = clock ? pollIntervalMs + skipPerPollMs : pollIntervalMs
  let before = Number.NaN
  for (let unchanged = 0; unchanged * perPollMs < forMs; ) {
    await new Promise(resolve => setTimeout(resolve, pollIntervalMs))
    await clock?.skip(skipPerPollMs)
    const now = count()
    unchanged = now === before ? unchanged + 1 : 0
    before = now
  }
}
