// SPDX-License-Identifier: Apache-2.0

import { type Clock, sleepOn, type Timer } from './clock.ts'

interface PendingTimer {
  readonly due: number
  readonly callback: () => void
  cancelled: boolean
}

/**
 * A clock that moves only on request. Timers fire in the order of their due times, ties in the order they were set.
 * Before each timer, all ready code has run. So code that one timer resumed has set its next timer before the clock
 * advances. Not promised: waiting for real I/O. Only code that stays inside the process runs between timers.
 */
export class FakeClock implements Clock {
  #wall: number
  #monotonic = 0
  /** Sorted by due time, ties in the order they were set. Cancelled timers are removed when they come first. */
  readonly #timers: PendingTimer[] = []

  constructor(startEpochMs = Date.UTC(2026, 0, 1)) {
    this.#wall = startEpochMs
  }

  now(): number {
    return this.#wall
  }

  monotonic(): number {
    return this.#monotonic
  }

  setTimeout(callback: () => void, ms: number): Timer {
    const timer = { due: this.#monotonic + Math.max(0, ms), callback, cancelled: false }
    this.#timers.splice(this.#placeOf(timer.due), 0, timer)
    return {
      cancel: () => {
        timer.cancelled = true
      },
    }
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal)
  }

  /** The number of timers that are set and have not fired. */
  get pendingTimers(): number {
    return this.#timers.reduce((count, timer) => count + (timer.cancelled ? 0 : 1), 0)
  }

  /** Milliseconds until the next timer is due; undefined if none is set. */
  get untilNextTimer(): number | undefined {
    const next = this.#next()
    return next && Math.max(0, next.due - this.#monotonic)
  }

  /** Advances time by `ms`, fires the timers that become due, and runs all ready code afterwards. */
  async advance(ms: number): Promise<void> {
    const target = this.#monotonic + ms
    await this.flushPromises()
    for (let timer = this.#next(); timer && timer.due <= target; timer = this.#next()) {
      this.#moveTo(Math.max(timer.due, this.#monotonic))
      this.#timers.shift()
      timer.callback()
      await this.flushPromises()
    }
    this.#moveTo(target)
  }

  /** Advances to the next timer and fires it. Returns false if none is set. */
  async advanceToNextTimer(): Promise<boolean> {
    await this.flushPromises()
    const wait = this.untilNextTimer
    if (wait === undefined) return false
    await this.advance(wait)
    return true
  }

  /** Runs all ready code, such as resolved promises, without advancing time. */
  async flushPromises(): Promise<void> {
    await new Promise<void>(resolve => setImmediate(resolve))
  }

  /** Sets the machine's clock forward or back: `now()` jumps, `monotonic()` and timers are not affected. */
  shiftWallClock(ms: number): void {
    this.#wall += ms
  }

  #moveTo(monotonic: number): void {
    this.#wall += monotonic - this.#monotonic
    this.#monotonic = monotonic
  }

  #next(): PendingTimer | undefined {
    while (this.#timers[0]?.cancelled) this.#timers.shift()
    return this.#timers[0]
  }

  /** Returns the position of a new timer: behind everything that is due no later. */
  #placeOf(due: number): number {
    let low = 0
    let high = this.#timers.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#timers[middle]!.due <= due) low = middle + 1
      else high = middle
    }
    return low
  }
}
