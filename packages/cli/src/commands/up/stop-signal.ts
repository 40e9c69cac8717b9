// SPDX-License-Identifier: Apache-2.0

export interface StopSignal {
  readonly promise: Promise<void>
  /** Aborted when the promise resolves. */
  readonly signal: AbortSignal
  /** Restores the default signal handlers. */
  forget(): void
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/**
 * On Ctrl-C the terminal signals every process of the group, and a parent process may forward it: count both as one.
 */
const sameRequestMs = 1_000

/** Resolves at the first stop signal. A later one runs `cleanUp` and exits at once. */
export function stopSignal(cleanUp: () => void): StopSignal {
  const { promise, resolve: stop } = Promise.withResolvers<void>()
  const abort = new AbortController()
  let since: number | undefined
  const onSignal = () => {
    if (since !== undefined && performance.now() - since > sameRequestMs) {
      cleanUp()
      process.exit(130)
    }
    since ??= performance.now()
    stop()
    abort.abort()
  }
  for (const signal of signals) process.on(signal, onSignal)
  return {
    promise,
    signal: abort.signal,
    forget: () => {
      for (const signal of signals) process.off(signal, onSignal)
    },
  }
}
