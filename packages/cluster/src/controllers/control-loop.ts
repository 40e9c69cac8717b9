// SPDX-License-Identifier: Apache-2.0

import { Controller, type Source } from '@grove/kube'
import type { Component, Runtime } from './runtime.ts'

/** When to look at a key again without being woken; never when absent. */
export type NextLook = { readonly requeueAt: number } | undefined

/** A component that is one controller: its sources name keys, and it looks at each of them, one worker at a time. */
export abstract class ControlLoop implements Component {
  readonly name: string
  protected readonly runtime: Runtime
  readonly #controller: Controller

  constructor(name: string, runtime: Runtime, sources: readonly Source<string>[], workers: number) {
    const { clock, random, log } = runtime
    this.name = name
    this.runtime = runtime
    this.#controller = new Controller({
      name,
      clock,
      random,
      log,
      workers,
      sources,
      reconcile: key => this.look(key),
    })
  }

  protected abstract look(key: string): Promise<NextLook>

  /** For a look that found the world changed under its hands. */
  protected lookAgainSoon(key: string): void {
    this.#controller.queue.addNoLaterThanAfter(key, soonMs)
  }

  start(signal: AbortSignal): Promise<void> {
    return this.#controller.start(signal)
  }

  stop(): Promise<void> {
    return this.#controller.stop()
  }
}

const soonMs = 10
