// SPDX-License-Identifier: Apache-2.0

// Time as a dependency. Everything in this package that waits or measures takes a Clock. So a test covers hours in a
// millisecond, and a simulator runs days in seconds. Not promised: resolution finer than a millisecond, or that a
// timer fires no later than requested.

/** A timer that was set. Cancelling one that has fired, or twice, has no effect. */
export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Milliseconds since the Unix epoch. May jump when the machine's clock is set, so use it for timestamps only. */
  now(): number
  /** Milliseconds since an arbitrary start; never decreases. For durations and deadlines. */
  monotonic(): number
  /** Calls back once after `ms`, or in the next turn if `ms` is not positive. Any length is allowed. */
  setTimeout(callback: () => void, ms: number): Timer
  /** Resolves after `ms`; rejects with the signal's reason as soon as the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Node fires a longer timeout at once, so longer waits consist of several of these. */
const maxNodeTimeoutMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout(callback, ms) {
    let handle: NodeJS.Timeout
    const arm = (left: number) => {
      if (left <= maxNodeTimeoutMs) handle = setTimeout(callback, left)
      else handle = setTimeout(() => arm(left - maxNodeTimeoutMs), maxNodeTimeoutMs)
    }
    arm(ms)
    return { cancel: () => clearTimeout(handle) }
  },
  sleep: (ms, signal) => sleepOn(systemClock, ms, signal),
}

/** Implements `sleep` for any clock that has `setTimeout`. */
export function sleepOn(clock: Pick<Clock, 'setTimeout'>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const timer = clock.setTimeout(() => {
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
