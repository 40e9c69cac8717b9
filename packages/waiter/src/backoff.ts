// SPDX-License-Identifier: Apache-2.0

import type { Timing } from './timing.ts'

/** Exponential back-off with a low cap and jitter, so that waiters do not retry together. */
export class Backoff {
  readonly #timing: Timing
  readonly #random: () => number
  #failures = 0

  constructor(timing: Timing, random: () => number) {
    this.#timing = timing
    this.#random = random
  }

  get failures(): number {
    return this.#failures
  }

  reset(): void {
    this.#failures = 0
  }

  /** `retryAfterMs` is the server's Retry-After. The wait is never shorter than that, up to a limit. */
  next(retryAfterMs = 0): number {
    const { firstRetryMs, maxRetryMs, maxRetryAfterMs } = this.#timing
    const longest = Math.min(firstRetryMs * 2 ** this.#failures++, maxRetryMs)
    const own = longest * (0.5 + this.#random() / 2)
    // The jitter is added, because all clients received the same Retry-After.
    return Math.min(retryAfterMs, maxRetryAfterMs) + own
  }
}
