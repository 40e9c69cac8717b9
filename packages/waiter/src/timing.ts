// SPDX-License-Identifier: Apache-2.0

/** All waiting times of the program, in milliseconds. */
export const timing = {
  /** Spreads the first requests of pods that start together; too short for anybody to notice. */
  startJitterMs: 100,
  /** First wait after something failed, doubled each time. */
  retryFirstMs: 200,
  /** Low, because the wait for an API server that is back delays the start of a workload. */
  retryLongestMs: 5_000,
  /** A server may ask for more patience with Retry-After, but not for more than this. */
  retryAfterLongestMs: 30_000,
  /** A list from which no byte comes for this long has failed. */
  listSilenceMs: 30_000,
  /** A watch brings a bookmark each minute; one that brings nothing for longer is a connection to nowhere. */
  watchSilenceMs: 90_000,
  /** The server is asked to end a watch after a random time from this to its double, so that load spreads again. */
  watchLeastMs: 300_000,
  /** How often the log repeats what is missing. */
  reminderMs: 30_000,
} as const

export type Timing = Readonly<Record<keyof typeof timing, number>>
