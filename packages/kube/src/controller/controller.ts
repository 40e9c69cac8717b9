// SPDX-License-Identifier: Apache-2.0

// Calls `reconcile(key)` whenever the actual state of a key may differ from the desired one. Level-based: a call
// receives the key and no event. It reads the current state and moves it one step. Events may be coalesced, and calls
// may come without an event. Promised:
// - one call at a time per key, at most `workers` at once;
// - a call that throws is repeated with back-off, and never stops or delays other keys;
// - after stop() no further call starts; the running ones may finish, until the hard signal aborts them.
// Not promised: that a call which ignores its signal ever ends. It blocks one worker and shows in
// workqueue_longest_running_processor_seconds.
import { randomUUID } from 'node:crypto'
import { isConflict } from '../client/index.ts'
import { type Clock, systemClock } from '../clock/index.ts'
import { type LogFields, type Logger, silentLogger, withLogFields } from '../log/index.ts'
import type { Registry } from '../metrics/index.ts'
import { type Backoff, type Priority, WorkQueue } from '../queue/index.ts'
import { type ControllerMetrics, controllerMetrics, type ReconcileOutcome } from './metrics.ts'
import { ReconcileTimeout, RunningCalls } from './running-calls.ts'

/** When to reconcile the key again without a change. If both are given, the earlier one counts. */
export interface ReconcileResult {
  /** Wall-clock time, milliseconds since the epoch. */
  readonly requeueAt?: number
  /** Milliseconds from now. */
  readonly requeueAfter?: number
}

export interface ReconcileContext {
  /** Aborted when the result is no longer wanted: hard stop, lost leadership, time-out. Pass it to every request. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Its lines name the controller, the object and the reconcile. */
  readonly log: Logger
}

/** Returns nothing if there is no work before the next change. */
export type Reconcile<Key extends string> = (
  key: Key,
  context: ReconcileContext,
) => Promise<ReconcileResult | undefined> | Promise<void>

export type Enqueue<Key extends string> = (key: Key, priority?: Priority) => void

/** Subscribes to changes and returns a function that unsubscribes. Existing objects are enqueued too. */
export type Source<Key extends string> = (enqueue: Enqueue<Key>) => () => void

export interface ControllerOptions<Key extends string> {
  readonly name: string
  readonly reconcile: Reconcile<Key>
  readonly sources?: readonly Source<Key>[]
  readonly workers?: number
  readonly ownerOf?: (key: Key) => string
  /** Identifies the object of a key in log lines: kind, namespace, name, uid. Default: the key as `object`. */
  readonly identify?: (key: Key) => LogFields
  /** Receives the error of every reconcile that failed, for metrics. */
  readonly onFailure?: (error: unknown) => void
  readonly backoff?: Backoff
  /** The signal of a call that takes longer is aborted. */
  readonly timeoutMs?: number
  readonly clock?: Clock
  readonly log?: Logger
  readonly registry?: Registry
  readonly random?: () => number
}

const defaultWorkers = 4
/** Far more than any reconcile needs, so that only a hanging call is aborted. */
const defaultReconcileTimeoutMs = 120_000

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

  /** Keys that are being reconciled. */
  get running(): readonly Key[] {
    return this.#calls.keys
  }

  /** Subscribes to the sources and starts the workers. The signal is the hard stop: it aborts every running call. */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#workers.length) throw new Error(`controller ${this.name} was already started`)
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

  /** Starts no further call; resolves when the running ones have ended. The caller must bound that wait. */
  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe()
    await this.queue.shutDown()
    await Promise.all(this.#workers)
    this.#calls.close()
  }

  async #work(): Promise<void> {
    for (let key = await this.queue.take(); key !== undefined; key = await this.queue.take()) {
      const taken = key
      await withLogFields(this.#logFields(taken), () => this.#measured(taken))
      this.queue.done(key)
    }
  }

  async #measured(key: Key): Promise<void> {
    const started = this.#clock.monotonic()
    this.#metrics?.started()
    const result = await this.#reconcile(key)
    const tookMs = this.#clock.monotonic() - started
    this.#metrics?.ended(result, tookMs)
    this.#log.debug('Reconcile finished', { result, tookMs: Math.round(tookMs) })
  }

  async #reconcile(key: Key): Promise<ReconcileOutcome | 'stopped'> {
    const signal = this.#calls.begin(key)
    try {
      const result = await this.#options.reconcile(key, { signal, clock: this.#clock, log: this.#log })
      return this.#succeeded(key, result ?? {})
    } catch (error) {
      return this.#failed(key, error, signal)
    } finally {
      this.#calls.end(key)
    }
  }

  /** The identity of the object at the start: a reconcile may end with its deletion. */
  #logFields(key: Key): () => LogFields {
    const { identify } = this.#options
    const fields = identify?.(key) ?? { object: key }
    let reconcileID: string | undefined
    return () => {
      reconcileID ??= randomUUID()
      return { ...fields, reconcileID }
    }
  }

  #succeeded(key: Key, { requeueAt, requeueAfter }: ReconcileResult): ReconcileOutcome {
    this.queue.forget(key)
    // A deadline that was set during the call must stay. The one from before was consumed by this call.
    if (requeueAt !== undefined) this.queue.addNoLaterThan(key, requeueAt)
    if (requeueAfter !== undefined) this.queue.addNoLaterThanAfter(key, requeueAfter)
    return requeueAt === undefined && requeueAfter === undefined ? 'success' : 'requeue_after'
  }

  #failed(key: Key, error: unknown, signal: AbortSignal): ReconcileOutcome | 'stopped' {
    const log = this.#log
    if (signal.aborted && !(signal.reason instanceof ReconcileTimeout)) {
      log.debug('Reconcile was aborted', { error })
      return 'stopped'
    }
    this.#options.onFailure?.(error)
    if (isBug(error)) this.#metrics?.panicked()
    const retryInMs = Math.round(this.queue.retry(key))
    const failure = { error, failures: this.queue.failuresOf(key), retryInMs }
    // Another client wrote first, which is normal. The next attempt reads that write.
    if (isConflict(error)) log.info('Reconcile conflicted with a newer object, retrying', failure)
    else log.error('Reconcile failed', failure)
    return 'error'
  }
}

/** Errors that the JavaScript runtime throws; the equivalent of a Go panic. */
function isBug(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError
  )
}
