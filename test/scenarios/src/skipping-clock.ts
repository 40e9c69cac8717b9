// SPDX-License-Identifier: Apache-2.0

import { type Clock, systemClock, type Timer } from '@grove/kube'

/** The interval at which the clock checks its timers, so that periodic timers keep their order. */
const stepMs = 100

interface PendingTimer {
  readonly due: number
  readonly callback: () => void
  handle: Timer
}

/**
 * A clock that runs in real time and can be moved forward. Components that share it see the skipped time elapse: their
 * timers fire in order, and their timestamps include it.
 */
export class SkippingClock implements Clock {
  #skippedMs = 0
  readonly #timers = new Set<PendingTimer>()

  now(): number {
    return systemClock.now() + this.#skippedMs
  }

  monotonic(): number {
    return systemClock.monotonic() + this.#skippedMs
  }

  setTimeout(callback: () => void, ms: number): Timer {
    const due = this.monotonic() + Math.max(0, ms)
    const timer: PendingTimer = { due, callback, handle: { cancel: () => {} } }
    this.#timers.add(timer)
    this.#arm(timer)
    return {
      cancel: () => {
        timer.handle.cancel()
        this.#timers.delete(timer)
      },
    }
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const timer = this.setTimeout(() => {
        signal?.removeEventListener('abort', abort)
        resolve()
      }, ms)
      const abort = () => {
        timer.cancel()
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort, { once: true })
    })
  }

  /** Moves the clock forward in small steps. Work that a step starts can run before the next step. */
  async skip(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      this.#skippedMs += Math.min(left, stepMs)
      this.#fireDue()
      for (let turn = 0; turn < 10; turn++) await new Promise<void>(resolve => setImmediate(resolve))
    }
  }

  #fireDue(): void {
    const now = this.monotonic()
    const due = [...this.#timers].filter(timer => timer.due <= now).sort((a, b) => a.due - b.due)
    for (const timer of due) {
      // An earlier callback may have cancelled it.
      if (!this.#timers.delete(timer)) continue
      timer.handle.cancel()
      timer.callback()
    }
    for (const timer of this.#timers) {
      timer.handle.cancel()
      this.#arm(timer)
    }
  }

  #arm(timer: PendingTimer): void {
    timer.handle = systemClock.setTimeout(
      () => {
        this.#timers.delete(timer)
        timer.callback()
      },
      Math.max(0, timer.due - this.monotonic()),
    )
  }
}
