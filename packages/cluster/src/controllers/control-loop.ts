// SPDX-License-Identifier: Apache-2.0

import { Controller, type ReconcileResult, type Source } from '@grove/kube'
import type { Component, Runtime } from './runtime.ts'

/** When to reconcile the key again without an event; undefined waits for the next event. */
export type Requeue = ReconcileResult | undefined

/**
 * A component with one work queue. Subclasses call `watch` in their constructor, so that the caches they read are
 * synced before the first reconcile.
 */
export abstract class ControlLoop implements Component {
  readonly name: string
  protected readonly runtime: Runtime
  readonly #controller: Controller
  readonly #sources: Source<string>[] = []

  constructor(name: string, runtime: Runtime, workers: number) {
    const { clock, random, log } = runtime
    this.name = name
    this.runtime = runtime
    this.#controller = new Controller({
      name,
      clock,
      random,
      log,
      workers,
      sources: this.#sources,
      reconcile: key => this.reconcile(key),
    })
  }

  protected abstract reconcile(key: string): Promise<Requeue>

  /** Adds sources of keys. They have no effect after `start`. */
  protected watch(...sources: readonly Source<string>[]): void {
    this.#sources.push(...sources)
  }

  protected enqueue(key: string): void {
    this.#controller.queue.add(key)
  }

  /** Coalesces events: several calls within the delay cause one reconcile. */
  protected enqueueAfter(key: string, delayMs: number): void {
    this.#controller.queue.addNoLaterThanAfter(key, delayMs)
  }

  start(signal: AbortSignal): Promise<void> {
    return this.#controller.start(signal)
  }

  stop(): Promise<void> {
    return this.#controller.stop()
  }
}
