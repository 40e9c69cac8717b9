// SPDX-License-Identifier: Apache-2.0

/** Time as a dependency; the clock of @grove/kube implements it. */
export interface Clock {
  setTimeout(callback: () => void, ms: number): { cancel(): void }
}

export const systemClock: Clock = {
  setTimeout(callback, ms) {
    const handle = setTimeout(callback, ms)
    return { cancel: () => clearTimeout(handle) }
  },
}

/** Resolves after `ms`, or at once when the signal is aborted; the caller checks the signal. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve()
    const done = () => {
      timer.cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = clock.setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}
