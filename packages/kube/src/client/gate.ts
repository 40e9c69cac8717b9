// SPDX-License-Identifier: Apache-2.0

import type { Clock, Timer } from '../clock/index.ts'
import { type RateLimit, TokenBucket } from './rate-limit.ts'

export interface GateOptions {
  readonly clock: Clock
  readonly maxInFlight: number
  readonly rateLimit?: RateLimit
}

interface Waiter {
  readonly admit: () => void
  gone: boolean
}

/**
 * Lets requests pass in the order they came: at most `maxInFlight` at a time, no faster than the rate limit. When the
 * server throttles, nothing passes until it is ready again, and the number in flight is halved; each answer afterwards
 * lets it grow again, by one for as many answers as are in flight. One request always gets its turn.
 */
export class Gate {
  readonly #clock: Clock
  readonly #maxInFlight: number
  readonly #bucket: TokenBucket | undefined
  #waiting: Waiter[] = []
  #head = 0
  #inFlight = 0
  #allowed: number
  #closedUntil = 0
  #timer: Timer | undefined

  constructor(options: GateOptions) {
    if (!(options.maxInFlight >= 1))
      throw new RangeError(`maxInFlight must be at least 1, not ${options.maxInFlight}`)
    this.#clock = options.clock
    this.#maxInFlight = options.maxInFlight
    this.#allowed = options.maxInFlight
    this.#bucket = options.rateLimit && new TokenBucket(options.rateLimit, options.clock.monotonic())
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** How many may be in flight now. */
  get allowed(): number {
    return Math.floor(this.#allowed)
  }

  get waiting(): number {
    return this.#waiting.length - this.#head
  }

  /** Waits for a turn; undefined when it came at once. Each turn is given back by `leave`. Rejects with the signal's
   * reason when that comes first; then there is nothing to give back. */
  enter(signal?: AbortSignal): Promise<void> | undefined {
    if (this.waiting === 0 && this.#untilNextTurn() === 0) {
      this.#inFlight++
      return undefined
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        gone: false,
        admit: () => {
          signal?.removeEventListener('abort', abort)
          resolve()
        },
      }
      const abort = () => {
        waiter.gone = true
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort, { once: true })
      this.#waiting.push(waiter)
      this.#admitWaiting()
    })
  }

  leave(): void {
    this.#inFlight--
    if (this.#allowed < this.#maxInFlight)
      this.#allowed = Math.min(this.#maxInFlight, this.#allowed + 1 / this.#allowed)
    this.#admitWaiting()
  }

  /** The server asked for a pause. Requests that were in flight together count as one call to slow down. */
  slowDown(pauseMs: number): void {
    const now = this.#clock.monotonic()
    if (now >= this.#closedUntil) this.#allowed = Math.max(1, this.#allowed / 2)
    this.#closedUntil = Math.max(this.#closedUntil, now + pauseMs)
  }

  /** 0 when the next request may pass (its token is then taken), Infinity when an answer must come first. */
  #untilNextTurn(): number {
    if (this.#inFlight >= this.allowed) return Number.POSITIVE_INFINITY
    const now = this.#clock.monotonic()
    if (now < this.#closedUntil) return this.#closedUntil - now
    return this.#bucket ? this.#bucket.take(now) : 0
  }

  #admitWaiting(): void {
    while (this.#head < this.#waiting.length) {
      const waiter = this.#waiting[this.#head]!
      if (!waiter.gone) {
        const wait = this.#untilNextTurn()
        if (wait > 0) {
          this.#wakeAfter(wait)
          return
        }
        this.#inFlight++
        waiter.admit()
      }
      this.#head++
    }
    this.#waiting = []
    this.#head = 0
  }

  #wakeAfter(ms: number): void {
    this.#compact()
    if (ms === Number.POSITIVE_INFINITY || this.#timer) return
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined
      this.#admitWaiting()
    }, Math.ceil(ms))
  }

  #compact(): void {
    if (this.#head < 1024) return
    this.#waiting = this.#waiting.slice(this.#head)
    this.#head = 0
  }
}
