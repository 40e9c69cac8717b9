// SPDX-License-Identifier: Apache-2.0

/** Growing waits between attempts at something that keeps failing. */
export class Backoff {
  readonly #firstMs: number
  readonly #longestMs: number
  readonly #random: () => number
  #failures = 0

  constructor(firstMs: number, longestMs: number, random: () => number) {
    this.#firstMs = firstMs
    this.#longestMs = longestMs
    this.#random = random
  }

  /** The next wait: twice the last up to the longest, of which between half and all is taken so that many who failed
   * together do not come back together. */
  next(): number {
    const full = Math.min(this.#longestMs, this.#firstMs * 2 ** Math.min(this.#failures, 30))
    this.#failures++
    return full * (0.5 + this.#random() / 2)
  }

  reset(): void {
    this.#failures = 0
  }
}
