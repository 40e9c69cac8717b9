// SPDX-License-Identifier: Apache-2.0

import type { Timing } from './timing.ts'

/** How long to wait after each failure in a row: doubling, with a low cap, and random so that waiters spread. */
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

  /** `retryAfterMs` is what the server asked for; it is obeyed up to a limit, and never undercut. */
  next(retryAfterMs = 0): number {
    const { retryFirstMs, retryLongestMs, retryAfterLongestMs } = this.#timing
    const longest = Math.min(retryFirstMs * 2 ** this.#failures++, retryLongestMs)
    const own = longest * (0.5 + this.#random() / 2)
    // Later than asked, not earlier: everybody was given the same number.
    return Math.min(retryAfterMs, retryAfterLongestMs) + own
  }
}
