// SPDX-License-Identifier: Apache-2.0

/** How long to wait before the next try of something that failed `n` times in a row. */
export interface Backoff {
  /** The wait after the first failure. */
  readonly baseMs: number
  /** No wait is longer. */
  readonly capMs: number
  /** The part of each wait that is left to chance, 0 to 1, so that what failed together is not retried together. */
  readonly jitter: number
}

/**
 * Quick at first because most failures are conflicts that the next look resolves; the cap is a minute because the
 * cause of a longer row of failures is usually outside and its end should be noticed within that.
 */
export const defaultBackoff: Backoff = { baseMs: 5, capMs: 60_000, jitter: 0.2 }

/** The wait after `failures` failures in a row (1 for the first). `random` gives 0 ≤ r < 1. */
export function backoffDelay(backoff: Backoff, failures: number, random: () => number): number {
  const full = Math.min(backoff.capMs, backoff.baseMs * 2 ** Math.max(0, failures - 1))
  return full * (1 - backoff.jitter * random())
}
