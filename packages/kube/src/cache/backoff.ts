// SPDX-License-Identifier: Apache-2.0

/** Exponential back-off with jitter. */
export class Backoff {
  readonly #firstMs: number
  readonly #maxMs: number
  readonly #random: () => number
  #failures = 0

  constructor(firstMs: number, maxMs: number, random: () => number) {
    this.#firstMs = firstMs
    this.#maxMs = maxMs
    this.#random = random
  }

  /**
   * Returns the next wait: twice the last one, up to the maximum, of which a random share between half and all. The
   * jitter keeps clients that failed together from retrying together.
   */
  next(): number {
    const full = Math.min(this.#maxMs, this.#firstMs * 2 ** Math.min(this.#failures, 30))
    this.#failures++
    return full * (0.5 + this.#random() / 2)
  }

  reset(): void {
    this.#failures = 0
  }
}
