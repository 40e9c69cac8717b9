// SPDX-License-Identifier: Apache-2.0

export interface StopAsked {
  readonly promise: Promise<void>
  readonly asked: boolean
}

/** On Ctrl-C the terminal tells every process of the group, and a parent may pass it on: that is one wish, not two. */
const sameWishMs = 1_000

/** Resolves at the first signal to end. Whoever asks again later is served at once, after the last words. */
export function stopAsked(lastWords: () => void): StopAsked {
  const { promise, resolve: stop } = Promise.withResolvers<void>()
  const state = { promise, asked: false }
  let since = 0
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (state.asked && performance.now() - since > sameWishMs) {
        lastWords()
        process.exit(130)
      }
      if (!state.asked) since = performance.now()
      state.asked = true
      stop()
    })
  return state
}
