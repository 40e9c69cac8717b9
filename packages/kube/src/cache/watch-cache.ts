// SPDX-License-Identifier: Apache-2.0

import type {
  Client,
  KubeError,
  KubeObject,
  ObjectRef,
  Resource,
  SelectOptions,
  Stored,
} from '../client/index.ts'
import { withoutManagedFields } from '../client/managed-fields.ts'
import { type Clock, systemClock } from '../clock/index.ts'
import type { ChangeHandler } from './change.ts'
import type { IndexFunction } from './indexed-store.ts'
import { ObjectCache, type Projection } from './object-cache.ts'
import { Reflector } from './reflector.ts'

export interface WatchCacheOptions<T extends KubeObject, P extends KubeObject, I extends string>
  extends SelectOptions {
  /**
   * Reduces each object to the part that the cache keeps. Default: everything but managedFields. Receives
   * managedFields if the client returns them.
   */
  readonly project?: Projection<T, P>
  /** Secondary indexes. */
  readonly indexes?: Readonly<Record<I, IndexFunction<P>>>
  /** Use streaming lists if the server offers them. */
  readonly streamingList?: boolean
  /** Longest silence of a watch before its connection counts as dead. */
  readonly idleTimeoutMs?: number
  readonly clock?: Clock
  readonly random?: () => number
  /** The server was unreachable or rejected the request. The cache keeps its objects and retries. */
  readonly onFailure?: (error: KubeError, retryInMs: number) => void
  /** A handler threw. */
  readonly onHandlerError?: (error: unknown) => void
}

/** The status of a cache, for metrics and probes. */
export interface CacheStatus {
  readonly objects: number
  readonly synced: boolean
  /** The resourceVersion up to which everything is known. */
  readonly resourceVersion: string | undefined
  /**
   * Seconds since the last message of the server, which sends at least a bookmark every minute. Undefined before the
   * first.
   */
  readonly silentSeconds: number | undefined
  readonly lists: number
  readonly failures: number
  /** Changes reported to handlers. */
  readonly changes: number
  /** Own deletions that the watch has not shown yet. */
  readonly pendingDeletions: number
}

/**
 * All objects of a resource, or those of a selector, kept up to date by a watch, with indexes.
 *
 * Promised: a read is never older than an own write that was recorded in the cache (createCachedClient does that). A
 * read never returns an older state than the one before, even if the watch delivers late or twice. After any
 * interruption the cache becomes equal to the server. Handlers receive each change once, as a step from the old
 * object to the new.
 *
 * Not promised: that another client's write is visible at once; that two objects are shown at the same
 * resourceVersion. Objects are shared, so copy them before you edit. Projected objects are incomplete: never send one
 * back with `update`.
 */
export class WatchCache<
  T extends KubeObject = KubeObject,
  P extends KubeObject = T,
  I extends string = never,
> {
  readonly resource: Resource<T>
  readonly #objects: ObjectCache<T, P, I>
  readonly #reflector: Reflector<T>
  readonly #clock: Clock
  readonly #synced = Promise.withResolvers<void>()
  #hasSynced = false
  #contactAt: number | undefined
  #lists = 0
  #failures = 0

  constructor(client: Client, resource: Resource<T>, options: WatchCacheOptions<T, P, I> = {}) {
    const { namespace, labelSelector, fieldSelector } = options
    const scope = { namespace, labelSelector, fieldSelector }
    this.resource = resource
    this.#clock = options.clock ?? systemClock
    this.#objects = new ObjectCache<T, P, I>({
      scope,
      project: options.project ?? (withoutManagedFields as unknown as Projection<T, P>),
      indexes: options.indexes ?? ({} as Record<I, IndexFunction<P>>),
      clock: this.#clock,
      onHandlerError: options.onHandlerError ?? warnOfHandler,
    })
    this.#reflector = new Reflector<T>({
      client,
      resource,
      scope,
      // Without a projection managedFields are dropped, so the client need not parse them.
      managedFields: options.project ? undefined : false,
      target: this.#objects,
      clock: this.#clock,
      random: options.random ?? Math.random,
      streamingList: options.streamingList ?? true,
      idleTimeoutMs: options.idleTimeoutMs,
      onContact: () => {
        this.#contactAt = this.#clock.monotonic()
      },
      onListed: () => {
        this.#lists++
        this.#hasSynced = true
        this.#synced.resolve()
      },
      onFailure: (error, retryInMs) => {
        this.#failures++
        options.onFailure?.(error, retryInMs)
      },
    })
  }

  /** Lists and watches until the signal is aborted; resolves then. Call it once. */
  run(signal: AbortSignal): Promise<void> {
    return this.#reflector.run(signal)
  }

  /** Reports whether every object that existed at the start was seen and reported to the handlers. */
  get hasSynced(): boolean {
    return this.#hasSynced
  }

  /** Resolves once synced; rejects with the signal's reason if that comes first. */
  async waitForSync(signal?: AbortSignal): Promise<void> {
    if (!signal) return this.#synced.promise
    signal.throwIfAborted()
    const aborted = Promise.withResolvers<never>()
    const abort = () => aborted.reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    try {
      await Promise.race([this.#synced.promise, aborted.promise])
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  get(ref: ObjectRef): Stored<P> | undefined {
    return this.#objects.store.get(ref)
  }

  /** Returns all objects, or those of a namespace. */
  list(namespace?: string): Stored<P>[] {
    return [...this.#objects.store.values(namespace)]
  }

  /** Returns the objects that have this key in this index; costs as much as it returns. */
  byIndex(index: I, key: string): Stored<P>[] {
    return this.#objects.store.byIndex(index, key)
  }

  countByIndex(index: I, key: string): number {
    return this.#objects.store.countByIndex(index, key)
  }

  get size(): number {
    return this.#objects.store.size
  }

  /**
   * Calls the handler for every change from now on, and at once for every existing object. Handlers run in the middle
   * of decoding, so they should enqueue and return. Returns a function that removes the handler.
   */
  onChange(handler: ChangeHandler<P>): () => void {
    return this.#objects.onChange(handler)
  }

  /** Records the response to a create, update, patch or apply. */
  recordWrite(object: Stored<T>): void {
    this.#objects.recordWrite(object)
  }

  /** Records that the object with this UID no longer exists. */
  recordDeleted(ref: ObjectRef, uid: string): void {
    this.#objects.recordDeleted(ref, uid)
  }

  /** Records that the object with this UID is terminating. */
  recordTerminating(ref: ObjectRef, uid: string): void {
    this.#objects.recordTerminating(ref, uid)
  }

  status(): CacheStatus {
    return {
      objects: this.#objects.store.size,
      synced: this.#hasSynced,
      resourceVersion: this.#objects.resourceVersion,
      silentSeconds:
        this.#contactAt === undefined ? undefined : (this.#clock.monotonic() - this.#contactAt) / 1000,
      lists: this.#lists,
      failures: this.#failures,
      changes: this.#objects.changes,
      pendingDeletions: this.#objects.pendingDeletions,
    }
  }
}

function warnOfHandler(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error), 'WatchCacheHandlerError')
}
