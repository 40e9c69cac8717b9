// SPDX-License-Identifier: Apache-2.0

export interface StopAsked {
  readonly promise: Promise<void>
  /** Aborted at the same moment. */
  readonly signal: AbortSignal
  /** Signals mean what they meant before. */
  forget(): void
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** On Ctrl-C the terminal tells every process of the group, and a parent may pass it on: that is one wish, not two. */
const sameWishMs = 1_000

/** Resolves at the first signal to end. Whoever asks again later is served at once, after the last words. */
export function stopAsked(lastWords: () => void): StopAsked {
  const { promise, resolve: stop } = Promise.withResolvers<void>()
  const abort = new AbortController()
  let since: number | undefined
  const onSignal = () => {
    if (since !== undefined && performance.now() - since > sameWishMs) {
      lastWords()
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
