// SPDX-License-Identifier: Apache-2.0

/** Runs actions later, in the order in which they were given, with any delays. */
export class DelayLine {
  readonly #waiting: { readonly at: number; readonly act: () => void }[] = []
  #timer: NodeJS.Timeout | undefined

  push(ms: number, act: () => void): void {
    this.#waiting.push({ at: performance.now() + ms, act })
    // One timer for all: of two timers with the same end, the event loop may fire the later one first.
    if (!this.#timer) this.#drain()
  }

  #drain(): void {
    this.#timer = undefined
    while (this.#waiting.length > 0) {
      const left = this.#waiting[0]!.at - performance.now()
      if (left > 0) {
        this.#timer = setTimeout(() => this.#drain(), Math.ceil(left))
        return
      }
      this.#waiting.shift()!.act()
    }
  }
}
