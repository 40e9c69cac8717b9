// SPDX-License-Identifier: Apache-2.0

// At most one deadline per key, one timer for all of them. A duration ("in 20 ms", back-off) uses the monotonic
// clock. A time ("at 14:05", from a timestamp in an object) follows the wall clock even if it is set; that is noticed
// within `wallClockCheckMs`. Not promised: that a deadline fires to the millisecond.
import type { Clock, Timer } from '../clock/index.ts'
import { IndexedHeap } from './heap.ts'

/** Deadlines on the wall clock are compared with it at least this often. */
const wallClockCheckMs = 60_000

/** A wall-clock time (milliseconds since the epoch) or a duration from now (milliseconds). */
export type When = { readonly at: number } | { readonly after: number }

export class Deadlines<Key> {
  readonly #clock: Clock
  readonly #fire: (key: Key) => void
  /** Ranked by the monotonic time at which the key is due. */
  readonly #due = new IndexedHeap<Key>()
  /** Wall-clock times, for keys with such a deadline. */
  readonly #wallTimes = new Map<Key, number>()
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

  /** Milliseconds from now until the key's deadline; undefined if it has none. */
  remaining(key: Key): number | undefined {
    const time = this.#wallTimes.get(key)
    if (time !== undefined) return time - this.#clock.now()
    const due = this.#due.rankOf(key)
    return due === undefined ? undefined : due - this.#clock.monotonic()
  }

  /** Replaces the deadline of the key. */
  set(key: Key, when: When): void {
    if ('at' in when) {
      this.#wallTimes.set(key, when.at)
      this.#due.set(key, this.#clock.monotonic() + Math.min(when.at - this.#clock.now(), wallClockCheckMs))
    } else {
      this.#wallTimes.delete(key)
      this.#due.set(key, this.#clock.monotonic() + when.after)
    }
    this.#arm()
  }

  delete(key: Key): boolean {
    this.#wallTimes.delete(key)
    // The timer stays: if it fires too early, it is set again.
    return this.#due.delete(key)
  }

  clear(): void {
    this.#due.clear()
    this.#wallTimes.clear()
    this.#timer?.cancel()
    this.#timer = undefined
    this.#timerDue = Number.POSITIVE_INFINITY
  }

  #arm(): void {
    const next = this.#due.peek()
    if (!next || next.rank >= this.#timerDue) return
    this.#timer?.cancel()
    this.#timerDue = next.rank
    // Whole milliseconds, so that a timer does not fire early by a rounding error.
    const wait = Math.max(0, Math.ceil(next.rank - this.#clock.monotonic()))
    this.#timer = this.#clock.setTimeout(() => this.#onTimer(), wait)
  }

  #onTimer(): void {
    this.#timer = undefined
    this.#timerDue = Number.POSITIVE_INFINITY
    for (let next = this.#due.peek(); next && next.rank <= this.#clock.monotonic(); next = this.#due.peek()) {
      const time = this.#wallTimes.get(next.key)
      if (time !== undefined && time > this.#clock.now()) {
        this.set(next.key, { at: time })
        continue
      }
      this.delete(next.key)
      this.#fire(next.key)
    }
    this.#arm()
  }
}
