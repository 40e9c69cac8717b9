// SPDX-License-Identifier: Apache-2.0

/** Back-off parameters after `n` failures in a row. */
export interface Backoff {
  /** The wait after the first failure. */
  readonly baseMs: number
  /** The longest wait. */
  readonly capMs: number
  /** The random share of each wait, 0 to 1, so that keys which failed together are not retried together. */
  readonly jitter: number
}

/**
 * Short at first, because most failures are conflicts that the next attempt resolves. The cap is a minute: the cause
 * of a longer series is usually external, and its end should be noticed within that time.
 */
export const defaultBackoff: Backoff = { baseMs: 5, capMs: 60_000, jitter: 0.2 }

/** The wait after `failures` failures in a row (1 for the first). `random` returns 0 ≤ r < 1. */
export function backoffDelay(backoff: Backoff, failures: number, random: () => number): number {
  const full = Math.min(backoff.capMs, backoff.baseMs * 2 ** Math.max(0, failures - 1))
  return full * (1 - backoff.jitter * random())
}
