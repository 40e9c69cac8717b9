// SPDX-License-Identifier: Apache-2.0

import {
  apiVersionOf,
  byControllerUid,
  type CachedClient,
  type ChangeHandler,
  type Client,
  type Clock,
  createCachedClient,
  type KubeObject,
  type Logger,
  type Resource,
  type Stored,
  WatchCache,
} from '@grove/kube'
import * as kinds from './kinds.ts'

export interface CachesOptions {
  readonly client: Client
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

/** Pods indexed by node and by controller. */
export type PodCache = WatchCache<kinds.Pod, kinds.Pod, 'node' | 'controller'>
export type ReplicaSetCache = WatchCache<kinds.ReplicaSet, kinds.ReplicaSet, 'controller'>

/** The common interface of all caches. */
export interface SharedCache {
  onChange(handler: ChangeHandler<KubeObject>): () => void
  list(namespace?: string): Stored[]
}

/** Longer than any list takes on a server that serves the kind. */
const slowSyncMs = 10_000

interface AnyCache extends SharedCache {
  readonly hasSynced: boolean
  run(signal: AbortSignal): Promise<void>
  waitForSync(signal?: AbortSignal): Promise<void>
}

/** One watch per kind for all controllers of this process. Only kinds that a controller uses are watched. */
export class Caches {
  /** Writes through this client are in the caches when their promise resolves. */
  readonly client: CachedClient
  readonly #options: CachesOptions
  readonly #caches = new Map<string, AnyCache>()
  readonly #running: Promise<void>[] = []
  #signal: AbortSignal | undefined

  constructor(options: CachesOptions) {
    this.#options = options
    this.client = createCachedClient(options.client)
  }

  /** Watches these kinds. For kinds that a component reads later, so that `start` waits for their caches. */
  require(...resources: readonly Resource[]): void {
    for (const resource of resources) {
      if (keyOf(resource) === keyOf(kinds.pods)) this.#podCache()
      else if (keyOf(resource) === keyOf(kinds.replicaSets)) this.#replicaSetCache()
      else this.of(resource)
    }
  }

  get pods(): PodCache {
    return this.#podCache()
  }

  get replicaSets(): ReplicaSetCache {
    return this.#replicaSetCache()
  }

  #podCache(): PodCache {
    return this.#cached(kinds.pods, settings => {
      const indexes = {
        node: (pod: kinds.Pod) => pod.spec?.nodeName || undefined,
        controller: byControllerUid,
      }
      return new WatchCache<kinds.Pod, kinds.Pod, 'node' | 'controller'>(this.#options.client, kinds.pods, {
        ...settings,
        indexes,
      })
    })
  }

  #replicaSetCache(): ReplicaSetCache {
    return this.#cached(
      kinds.replicaSets,
      settings =>
        new WatchCache<kinds.ReplicaSet, kinds.ReplicaSet, 'controller'>(
          this.#options.client,
          kinds.replicaSets,
          { ...settings, indexes: { controller: byControllerUid } },
        ),
    )
  }

  of<T extends KubeObject>(resource: Resource<T>): WatchCache<T> {
    return this.#cached(resource, settings => new WatchCache<T>(this.#options.client, resource, settings))
  }

  /** Returns the cache of a resource if it exists, to avoid a second watch of the same kind. */
  existing(resource: Resource): SharedCache | undefined {
    return this.#caches.get(keyOf(resource))
  }

  /** Starts all watches. Kinds that are used later start immediately. Resolves when all caches are synced. */
  async start(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    for (const cache of this.#caches.values()) this.#running.push(cache.run(signal))
    const slow = this.#options.clock.setTimeout(() => this.#warnAboutSlowSync(), slowSyncMs)
    try {
      await Promise.all([...this.#caches.values()].map(cache => cache.waitForSync(signal)))
    } finally {
      slow.cancel()
    }
  }

  /** A kind that the server does not serve blocks the start, so the log names it. */
  #warnAboutSlowSync(): void {
    const missing = [...this.#caches].filter(([, cache]) => !cache.hasSynced).map(([key]) => key)
    this.#options.log.warn('Waiting for caches to sync before the controllers start', { resources: missing })
  }

  /** Resolves when all watches have ended after the signal was aborted. */
  async ended(): Promise<void> {
    await Promise.all(this.#running)
  }

  #cached<C extends AnyCache & Parameters<CachedClient['attach']>[0]>(
    resource: Resource,
    create: (settings: ReturnType<Caches['settings']>) => C,
  ): C {
    const key = keyOf(resource)
    let cache = this.#caches.get(key) as C | undefined
    if (!cache) {
      cache = create(this.settings(key))
      this.#caches.set(key, cache)
      this.client.attach(cache)
      if (this.#signal) this.#running.push(cache.run(this.#signal))
    }
    return cache
  }

  private settings(key: string) {
    const { clock, random, log } = this.#options
    return {
      clock,
      random,
      onFailure: (error: Error, retryInMs: number) =>
        log.warn('Watch failed, retrying', { resource: key, error, retryInMs }),
      onHandlerError: (error: unknown) => log.error('Event handler failed', { resource: key, error }),
    }
  }
}

function keyOf(resource: Resource): string {
  return `${apiVersionOf(resource)}/${resource.resource}`
}
