// SPDX-License-Identifier: Apache-2.0

import type { Clock, Timer } from '../clock/index.ts'
import type { Priority, Shares, Waiting } from '../queue/fair-order.ts'
import { OwnerTurns } from '../queue/owner-turns.ts'
import { type RateLimit, TokenBucket } from './rate-limit.ts'

/**
 * Requests that a user is waiting for get almost all slots. Follow-up requests outnumber them and would only delay
 * them; they finish no later this way.
 */
const priorityWeights: Shares = { user: 128, normal: 4, background: 1 }

export interface RequestLimiterOptions {
  readonly clock: Clock
  readonly maxInFlight: number
  readonly rateLimit?: RateLimit
}

/** The owner and priority of a waiting request. */
export interface WaitOptions {
  readonly owner?: string
  readonly priority?: Priority
}

interface Waiter extends Waiting {
  readonly admit: () => void
}

/**
 * Limits requests: at most `maxInFlight` at a time, and the rate limit. Owners with waiting requests take turns.
 * Among the requests of one owner, the priority decides as in fair-order.ts, then the order of arrival. When the
 * server throttles, no request starts until the pause is over, and the limit is halved. Afterwards each full round of
 * responses raises the limit by one. One request is always allowed.
 */
export class RequestLimiter {
  readonly #clock: Clock
  readonly #maxInFlight: number
  readonly #bucket: TokenBucket | undefined
  readonly #order = new OwnerTurns<Waiter>(priorityWeights)
  #inFlight = 0
  #allowed: number
  #pausedUntil = 0
  #timer: Timer | undefined

  constructor(options: RequestLimiterOptions) {
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

  /** The current limit of requests in flight. */
  get allowed(): number {
    return Math.floor(this.#allowed)
  }

  get waiting(): number {
    return this.#order.size
  }

  /**
   * Waits for a slot; undefined if one is free. `leave` releases the slot. Rejects with the signal's reason if that
   * comes first; then there is nothing to release.
   */
  enter(
    signal?: AbortSignal,
    { owner = '', priority = 'normal' }: WaitOptions = {},
  ): Promise<void> | undefined {
    if (this.waiting === 0 && this.#untilNextTurn() === 0) {
      this.#inFlight++
      return undefined
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        owner,
        priority,
        admit: () => {
          signal?.removeEventListener('abort', abort)
          resolve()
        },
      }
      const abort = () => {
        this.#order.remove(waiter)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort, { once: true })
      this.#order.push(waiter)
      this.#admitWaiting()
    })
  }

  leave(): void {
    this.#inFlight--
    if (this.#allowed < this.#maxInFlight)
      this.#allowed = Math.min(this.#maxInFlight, this.#allowed + 1 / this.#allowed)
    this.#admitWaiting()
  }

  /** The server asked for a pause. Requests that were in flight together count as one slow-down. */
  slowDown(pauseMs: number): void {
    const now = this.#clock.monotonic()
    if (now >= this.#pausedUntil) this.#allowed = Math.max(1, this.#allowed / 2)
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs)
  }

  /** Returns 0 if the next request may start (its token is then taken), or Infinity if a response must arrive first. */
  #untilNextTurn(): number {
    if (this.#inFlight >= this.allowed) return Number.POSITIVE_INFINITY
    const now = this.#clock.monotonic()
    if (now < this.#pausedUntil) return this.#pausedUntil - now
    return this.#bucket ? this.#bucket.take(now) : 0
  }

  #admitWaiting(): void {
    while (this.waiting > 0) {
      const wait = this.#untilNextTurn()
      if (wait > 0) {
        this.#resumeAfter(wait)
        return
      }
      this.#inFlight++
      this.#order.pop()!.admit()
    }
  }

  #resumeAfter(ms: number): void {
    if (ms === Number.POSITIVE_INFINITY || this.#timer) return
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined
      this.#admitWaiting()
    }, Math.ceil(ms))
  }
}
