// SPDX-License-Identifier: Apache-2.0

// At most one deadline a key, one timer for all of them. Two kinds of time: a span ("in 20 ms", back-off) is measured
// on the monotonic clock; a moment ("at 14:05", from a timestamp in an object) follows the wall clock even when
// somebody sets it, noticed within `wallClockCheckMs`. Not promised: that a deadline fires to the millisecond.
import type { Clock, Timer } from '../clock/index.ts'
import { IndexedHeap } from './heap.ts'

/** A moment of the wall clock is compared with the wall clock at least this often. */
const wallClockCheckMs = 60_000

/** When: a moment of the wall clock (milliseconds since the epoch) or a span from now (milliseconds). */
export type When = { readonly at: number } | { readonly after: number }

export class Deadlines<Key> {
  readonly #clock: Clock
  readonly #fire: (key: Key) => void
  /** By the monotonic time at which to look at the key again. */
  readonly #due = new IndexedHeap<Key>()
  /** The moments, for keys whose deadline is one. */
  readonly #moments = new Map<Key, number>()
  #timer: Timer | undefined
  #timerDue = Number.POSITIVE_INFINITY

  constructor(clock: Clock, fire: (key: Key) => void) {
    this.#clock = clock
    this.#fire = fire
  }

  get size(): number {
    return this.#due.size
  }

  /** Every key with a deadline. */
  keys(): Key[] {
    return this.#due.keys()
  }

  /** Milliseconds from now until the key's deadline; undefined when it has none. */
  remaining(key: Key): number | undefined {
    const moment = this.#moments.get(key)
    if (moment !== undefined) return moment - this.#clock.now()
    const due = this.#due.rankOf(key)
    return due === undefined ? undefined : due - this.#clock.monotonic()
  }

  /** Replaces whatever deadline the key had. */
  set(key: Key, when: When): void {
    if ('at' in when) {
      this.#moments.set(key, when.at)
      this.#due.set(key, this.#clock.monotonic() + Math.min(when.at - this.#clock.now(), wallClockCheckMs))
    } else {
      this.#moments.delete(key)
      this.#due.set(key, this.#clock.monotonic() + when.after)
    }
    this.#arm()
  }

  delete(key: Key): boolean {
    this.#moments.delete(key)
    // The timer stays: when it rings too early it is only set anew.
    return this.#due.delete(key)
  }

  clear(): void {
    this.#due.clear()
    this.#moments.clear()
    this.#timer?.cancel()
    this.#timer = undefined
    this.#timerDue = Number.POSITIVE_INFINITY
  }

  #arm(): void {
    const next = this.#due.peek()
    if (!next || next.rank >= this.#timerDue) return
    this.#timer?.cancel()
    this.#timerDue = next.rank
    // Whole milliseconds, so that a timer never rings a rounding error too early and is set again for nothing.
    const wait = Math.max(0, Math.ceil(next.rank - this.#clock.monotonic()))
    this.#timer = this.#clock.setTimeout(() => this.#ring(), wait)
  }

  #ring(): void {
    this.#timer = undefined
    this.#timerDue = Number.POSITIVE_INFINITY
    for (let next = this.#due.peek(); next && next.rank <= this.#clock.monotonic(); next = this.#due.peek()) {
      const moment = this.#moments.get(next.key)
      if (moment !== undefined && moment > this.#clock.now()) {
        this.set(next.key, { at: moment })
        continue
      }
      this.delete(next.key)
      this.#fire(next.key)
    }
    this.#arm()
  }
}
