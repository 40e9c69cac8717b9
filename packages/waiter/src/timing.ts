// SPDX-License-Identifier: Apache-2.0

/** All waiting times of the program, in milliseconds. */
export const timing = {
  /** Spreads the first requests of pods that start together; too short to be noticed. */
  startJitterMs: 100,
  /** First wait after a failure, doubled each time. */
  firstRetryMs: 200,
  /** Low, because a longer wait after an outage delays the start of a workload. */
  maxRetryMs: 5_000,
  /** Upper bound for Retry-After. */
  maxRetryAfterMs: 30_000,
  /** A list without a byte for this long has failed. */
  listSilenceMs: 30_000,
  /** The server sends a bookmark each minute. A watch that is silent for longer has a dead connection. */
  watchSilenceMs: 90_000,
  /** The waiter requests a random watch duration between this and twice this, so that load spreads again. */
  minWatchMs: 300_000,
  /** Interval at which the log repeats the missing parents. */
  reminderMs: 30_000,
} as const

export type Timing = Readonly<Record<keyof typeof timing, number>>
