// SPDX-License-Identifier: Apache-2.0

export interface RateLimit {
  /** Requests per second in the long run. */
  readonly qps: number
  /** Requests that may start at once after a quiet time. */
  readonly burst: number
}

/** A token bucket over a monotonic clock that the caller reads. */
export class TokenBucket {
  readonly #limit: RateLimit
  #tokens: number
  #refilledAt: number

  constructor(limit: RateLimit, nowMs: number) {
    if (!(limit.qps > 0) || !(limit.burst >= 1))
      throw new RangeError(`qps must be positive and burst at least 1, not ${limit.qps} and ${limit.burst}`)
    this.#limit = limit
    this.#tokens = limit.burst
    this.#refilledAt = nowMs
  }

  /** Takes a token if there is one, and returns 0. Otherwise returns the milliseconds until the next token. */
  take(nowMs: number): number {
    this.#tokens = Math.min(
      this.#limit.burst,
      this.#tokens + ((nowMs - this.#refilledAt) / 1000) * this.#limit.qps,
    )
    this.#refilledAt = nowMs
    // Tolerates rounding, so that a timer finds the token that it waited for.
    if (this.#tokens >= 1 - 1e-9) {
      this.#tokens -= 1
      return 0
    }
    return ((1 - this.#tokens) / this.#limit.qps) * 1000
  }
}
