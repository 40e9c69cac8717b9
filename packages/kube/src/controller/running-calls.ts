// SPDX-License-Identifier: Apache-2.0

import type { Clock, Timer } from '../clock/index.ts'

export class ReconcileTimeout extends Error {
  override readonly name = 'ReconcileTimeout'
}

interface Call {
  readonly abort: AbortController
  readonly deadline: number
}

/** The running calls, oldest first. The signal of each is aborted when it takes too long. One timer serves all. */
export class RunningCalls<Key extends string> {
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #calls = new Map<Key, Call>()
  #watchdog: Timer | undefined
  #stopped: { readonly reason: unknown } | undefined

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock
    this.#timeoutMs = timeoutMs
  }

  get keys(): readonly Key[] {
    return [...this.#calls.keys()]
  }

  begin(key: Key): AbortSignal {
    const abort = new AbortController()
    // A worker may have received its key a moment before everything was aborted.
    if (this.#stopped) abort.abort(this.#stopped.reason)
    this.#calls.set(key, { abort, deadline: this.#clock.monotonic() + this.#timeoutMs })
    this.#watch()
    return abort.signal
  }

  end(key: Key): void {
    this.#calls.delete(key)
  }

  /** Aborts the running calls, and those that are about to start. */
  abortAll(reason: unknown): void {
    this.#stopped = { reason }
    for (const { abort } of this.#calls.values()) abort.abort(reason)
  }

  /** No call will start any more. Cancels the timer, so that it does not keep the process alive. */
  close(): void {
    this.#watchdog?.cancel()
    this.#watchdog = undefined
  }

  /** Sets the timer for the oldest call. Usually that call has ended by then, and the next oldest is timed. */
  #watch(): void {
    if (this.#watchdog) return
    for (const { abort, deadline } of this.#calls.values()) {
      if (abort.signal.aborted) continue
      const wait = Math.max(0, Math.ceil(deadline - this.#clock.monotonic()))
      this.#watchdog = this.#clock.setTimeout(() => this.#onTimer(), wait)
      return
    }
  }

  #onTimer(): void {
    this.#watchdog = undefined
    for (const [key, { abort, deadline }] of this.#calls) {
      if (deadline > this.#clock.monotonic()) break
      if (!abort.signal.aborted)
        abort.abort(new ReconcileTimeout(`reconcile of ${key} took longer than ${this.#timeoutMs} ms`))
    }
    this.#watch()
  }
}
