// SPDX-License-Identifier: Apache-2.0

import type { Clock, Timer } from '../clock/index.ts'
import type { Priority, Shares, Waiting } from '../queue/fair-order.ts'
import { OwnerTurns } from '../queue/owner-turns.ts'
import { type RateLimit, TokenBucket } from './rate-limit.ts'

/**
 * What somebody waits for passes nearly alone: what follows from it is more, makes the server busy in turn, and is over
 * no later when it does not come between.
 */
const shares: Shares = { user: 128, normal: 4, background: 1 }

export interface GateOptions {
  readonly clock: Clock
  readonly maxInFlight: number
  readonly rateLimit?: RateLimit
}

/** How a request waits: with others of its owner, and how many turns those of its priority get. */
export interface Place {
  readonly owner?: string
  readonly priority?: Priority
}

interface Waiter extends Waiting {
  readonly admit: () => void
}

/**
 * Lets requests pass, at most `maxInFlight` at a time, no faster than the rate limit; owners with
 * something waiting take turns, what one of them has waiting passes by priority as in fair-order.ts, and otherwise in the
 * order it came. When the server throttles, nothing
 * passes until it is ready again, and the number in flight is halved; each answer afterwards lets it grow again, by one
 * for as many answers as are in flight. One request always gets its turn.
 */
export class Gate {
  readonly #clock: Clock
  readonly #maxInFlight: number
  readonly #bucket: TokenBucket | undefined
  readonly #order = new OwnerTurns<Waiter>(shares)
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
    return this.#order.size
  }

  /** Waits for a turn; undefined when it came at once. Each turn is given back by `leave`. Rejects with the signal's
   * reason when that comes first; then there is nothing to give back. */
  enter(signal?: AbortSignal, { owner = '', priority = 'normal' }: Place = {}): Promise<void> | undefined {
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
    while (this.waiting > 0) {
      const wait = this.#untilNextTurn()
      if (wait > 0) {
        this.#wakeAfter(wait)
        return
      }
      this.#inFlight++
      this.#order.pop()!.admit()
    }
  }

  #wakeAfter(ms: number): void {
    if (ms === Number.POSITIVE_INFINITY || this.#timer) return
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined
      this.#admitWaiting()
    }, Math.ceil(ms))
  }
}
