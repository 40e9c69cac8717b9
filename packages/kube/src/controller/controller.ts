// SPDX-License-Identifier: Apache-2.0

// Calls `reconcile(key)` whenever the world of that key may differ from what is wanted. Level-based: a call gets the
// key and nothing of what happened, looks at the world as it is now and moves it one step; calls may be fewer than
// events, and may come without any. Promises:
// - one call at a time per key, at most `workers` at once;
// - a call that throws is repeated with back-off, and never stops or delays other keys;
// - after stop() no further call begins; the running ones may finish, until the hard signal aborts them.
// Not promised: that a call which ignores its signal ever ends; it holds one worker and shows in
// workqueue_longest_running_processor_seconds.
import { isConflict } from '../client/index.ts'
import { type Clock, systemClock } from '../clock/index.ts'
import { type Logger, silentLogger } from '../log/index.ts'
import type { Registry } from '../metrics/index.ts'
import { type Backoff, type Priority, WorkQueue } from '../queue/index.ts'
import { type ControllerMetrics, controllerMetrics, type ReconcileOutcome } from './metrics.ts'
import { ReconcileTimeout, RunningCalls } from './running-calls.ts'

/** When to look at the key again although nothing changed. Both given: whichever is earlier. */
export interface ReconcileResult {
  /** A moment of the wall clock, milliseconds since the epoch. */
  readonly requeueAt?: number
  /** A span from now, milliseconds. */
  readonly requeueAfter?: number
}

export interface ReconcileContext {
  /** Aborted when the result is no longer wanted: hard stop, leadership lost, time-out. Pass it to every request. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Carries the controller and the object. */
  readonly log: Logger
}

/** Ends without a value when nothing is to be done before something changes. */
export type Reconcile<Key extends string> = (
  key: Key,
  context: ReconcileContext,
) => Promise<ReconcileResult | undefined> | Promise<void>

export type Enqueue<Key extends string> = (key: Key, priority?: Priority) => void

/** Subscribes to something that changes and returns how to unsubscribe. What exists already is enqueued too. */
export type Source<Key extends string> = (enqueue: Enqueue<Key>) => () => void

export interface ControllerOptions<Key extends string> {
  readonly name: string
  readonly reconcile: Reconcile<Key>
  readonly sources?: readonly Source<Key>[]
  readonly workers?: number
  readonly ownerOf?: (key: Key) => string
  readonly backoff?: Backoff
  /** The signal of a call that takes longer is aborted. */
  readonly timeoutMs?: number
  readonly clock?: Clock
  readonly log?: Logger
  readonly registry?: Registry
  readonly random?: () => number
}

export const defaultWorkers = 4
/** Far more than any pass needs, so that only a call that hangs is cut. */
export const defaultReconcileTimeoutMs = 120_000

export class Controller<Key extends string = string> {
  readonly name: string
  readonly queue: WorkQueue<Key>
  readonly #options: ControllerOptions<Key>
  readonly #clock: Clock
  readonly #log: Logger
  readonly #metrics: ControllerMetrics | undefined
  readonly #calls: RunningCalls<Key>
  #unsubscribe: (() => void)[] = []
  #workers: Promise<void>[] = []

  constructor(options: ControllerOptions<Key>) {
    this.name = options.name
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#log = (options.log ?? silentLogger).child({ controller: options.name })
    this.#calls = new RunningCalls(this.#clock, options.timeoutMs ?? defaultReconcileTimeoutMs)
    const { registry, ownerOf, backoff, random } = options
    this.queue = new WorkQueue<Key>({
      name: options.name,
      clock: this.#clock,
      ...(registry && { registry }),
      ...(ownerOf && { ownerOf }),
      ...(backoff && { backoff }),
      ...(random && { random }),
    })
    this.#metrics = registry && controllerMetrics(registry, options.name, options.workers ?? defaultWorkers)
  }

  /** Keys whose call runs. */
  get running(): readonly Key[] {
    return this.#calls.keys
  }

  /** Subscribes to the sources and begins to work. The signal is the hard stop: it aborts every running call. */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#workers.length) throw new Error(`controller ${this.name} was started before`)
    const enqueue: Enqueue<Key> = (key, priority) => this.queue.add(key, priority)
    this.#unsubscribe = (this.#options.sources ?? []).map(source => source(enqueue))
    this.#workers = Array.from({ length: this.#options.workers ?? defaultWorkers }, () => this.#work())
    const abort = () => {
      void this.queue.shutDown()
      this.#calls.abortAll(signal.reason)
    }
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  }

  /** No further call begins; resolves when the running ones have ended. Bounding that wait is the caller's business. */
  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe()
    await this.queue.shutDown()
    await Promise.all(this.#workers)
    this.#calls.close()
  }

  async #work(): Promise<void> {
    for (let key = await this.queue.take(); key !== undefined; key = await this.queue.take()) {
      const started = this.#clock.monotonic()
      this.#metrics?.started()
      const outcome = await this.#reconcile(key)
      this.#metrics?.ended(outcome, this.#clock.monotonic() - started)
      this.queue.done(key)
    }
  }

  async #reconcile(key: Key): Promise<ReconcileOutcome | 'stopped'> {
    const log = this.#log.child({ object: key })
    const signal = this.#calls.begin(key)
    try {
      const result = await this.#options.reconcile(key, { signal, clock: this.#clock, log })
      return this.#succeeded(key, result ?? {})
    } catch (error) {
      return this.#failed(key, error, signal, log)
    } finally {
      this.#calls.end(key)
    }
  }

  #succeeded(key: Key, { requeueAt, requeueAfter }: ReconcileResult): ReconcileOutcome {
    this.queue.forget(key)
    // Not later than: whoever set a deadline while the call ran must not lose it. The one from before is used up.
    if (requeueAt !== undefined) this.queue.addNoLaterThan(key, requeueAt)
    if (requeueAfter !== undefined) this.queue.addNoLaterThanAfter(key, requeueAfter)
    return requeueAt === undefined && requeueAfter === undefined ? 'success' : 'requeue_after'
  }

  #failed(key: Key, error: unknown, signal: AbortSignal, log: Logger): ReconcileOutcome | 'stopped' {
    if (signal.aborted && !(signal.reason instanceof ReconcileTimeout)) {
      log.debug('Reconcile was stopped', { error })
      return 'stopped'
    }
    if (isBug(error)) this.#metrics?.panicked()
    const retryInMs = Math.round(this.queue.retry(key))
    const failure = { error, failures: this.queue.failuresOf(key), retryInMs }
    // Another was faster, which is nobody's fault: the next attempt sees what it wrote.
    if (isConflict(error)) log.info('Reconcile met a newer object and is repeated', failure)
    else log.error('Reconcile failed', failure)
    return 'error'
  }
}

/** Errors that the language throws itself: what other runtimes call a panic. */
function isBug(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError
  )
}
