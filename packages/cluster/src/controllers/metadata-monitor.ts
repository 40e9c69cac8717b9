// SPDX-License-Identifier: Apache-2.0

import {
  type Change,
  type Client,
  type Clock,
  type DiscoveredResource,
  discover,
  type KubeObject,
  type Logger,
  type ObjectMeta,
  resourceName,
  type Stored,
  WatchCache,
} from '@grove/kube'
import type { SharedCache } from './caches.ts'
import { customResourceDefinitions } from './kinds.ts'
import type { Component, Runtime } from './runtime.ts'

export interface MetadataChange {
  readonly resource: DiscoveredResource
  readonly change: Change<KubeObject>
}

/** Events expire and have no owners. */
const ignored = new Set(['events', 'events.events.k8s.io'])
/** New kinds often appear several at a time. */
const discoveryDelayMs = 20
/** The delay before discovery is retried after a failure. */
const discoveryRetryMs = 1_000
const neededVerbs = ['delete', 'list', 'watch']

interface Watched {
  readonly resource: DiscoveredResource
  readonly cache: SharedCache
  /** Resolves when the watch has ended. */
  end(): Promise<void>
}

/**
 * The metadata of all objects that can be deleted, for the garbage collector and the namespace controller.
 * Watches of new kinds start, and watches of removed kinds stop.
 */
export class MetadataMonitor implements Component {
  readonly name = 'metadata-monitor'
  readonly #client: Client
  readonly #clock: Clock
  readonly #log: Logger
  readonly #random: () => number
  readonly #runtime: Runtime
  readonly #watched = new Map<string, Watched>()
  readonly #handlers = new Set<(change: MetadataChange) => void>()
  readonly #rediscovered = new Set<() => void>()
  #resources: readonly DiscoveredResource[] = []
  #signal: AbortSignal | undefined
  #unsubscribe: (() => void) | undefined
  #discovering = false

  constructor(runtime: Runtime) {
    this.#runtime = runtime
    this.#client = runtime.client
    this.#clock = runtime.clock
    this.#log = runtime.log
    this.#random = runtime.random
    runtime.caches.require(customResourceDefinitions)
  }

  /** All resources that can be watched and deleted, each in the preferred version. */
  get resources(): readonly DiscoveredResource[] {
    return this.#resources
  }

  async start(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    await this.#discover()
    const definitions = this.#runtime.caches.of(customResourceDefinitions)
    let known = definitions.size > 0
    this.#unsubscribe = definitions.onChange(() => {
      if (known || definitions.size > 0) this.rediscover()
      known = true
    })
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.()
    this.#signal = undefined
    await Promise.all([...this.#watched.values()].map(watched => watched.end()))
  }

  /** Calls the handler for every existing object and for each later change. */
  onChange(handler: (change: MetadataChange) => void): () => void {
    this.#handlers.add(handler)
    for (const { resource, cache } of this.#watched.values())
      for (const object of cache.list())
        handler({ resource, change: { type: 'add', old: undefined, new: object, source: 'list' } })
    return () => this.#handlers.delete(handler)
  }

  /** Calls the handler when the served kinds have changed. */
  onDiscovery(handler: () => void): () => void {
    this.#rediscovered.add(handler)
    return () => this.#rediscovered.delete(handler)
  }

  /** Returns the resource of a kind, for any version of it. */
  resourceOf(apiVersion: string, kind: string): DiscoveredResource | undefined {
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
    return this.#resources.find(resource => resource.group === group && resource.kind === kind)
  }

  /** Counts the known objects of each resource in a namespace. */
  contentOf(namespace: string): { readonly resource: DiscoveredResource; readonly count: number }[] {
    return [...this.#watched.values()]
      .filter(({ resource }) => resource.namespaced)
      .map(({ resource, cache }) => ({ resource, count: cache.list(namespace).length }))
      .filter(({ count }) => count > 0)
  }

  objectsIn(namespace: string): Stored[] {
    return [...this.#watched.values()].flatMap(({ resource, cache }) =>
      resource.namespaced ? cache.list(namespace) : [],
    )
  }

  rediscover(): void {
    if (this.#discovering || !this.#signal) return
    this.#discovering = true
    this.#clock.setTimeout(() => {
      this.#discovering = false
      this.#discover().catch((error: unknown) => {
        this.#log.warn('Discovery failed, retrying', { error, retryInMs: discoveryRetryMs })
        this.#clock.setTimeout(() => this.rediscover(), discoveryRetryMs)
      })
    }, discoveryDelayMs)
  }

  async #discover(): Promise<void> {
    const served = await discover(this.#client)
    if (!this.#signal) return
    this.#resources = preferredOf(served)
    const names = new Set(this.#resources.map(resourceName))
    for (const [name, watched] of this.#watched)
      if (!names.has(name)) {
        this.#watched.delete(name)
        await watched.end()
      }
    const added = this.#resources.filter(resource => !this.#watched.has(resourceName(resource)))
    await Promise.all(added.map(resource => this.#watch(resource)))
    for (const handler of this.#rediscovered) handler()
  }

  async #watch(resource: DiscoveredResource): Promise<void> {
    const shared = this.#runtime.caches.existing(resource)
    const notify = (change: Change<KubeObject>) => {
      for (const handler of this.#handlers) handler({ resource, change })
    }
    if (shared) {
      // Uses an existing watch of another controller instead of a second one.
      const unsubscribe = shared.onChange(notify)
      this.#watched.set(resourceName(resource), { resource, cache: shared, end: async () => unsubscribe() })
    } else await this.#watchAlone(resource, notify)
  }

  async #watchAlone(
    resource: DiscoveredResource,
    notify: (change: Change<KubeObject>) => void,
  ): Promise<void> {
    const cache = new WatchCache<KubeObject>(this.#client, resource, {
      clock: this.#clock,
      random: this.#random,
      project: object => ({ metadata: metadataOf(object.metadata) }) as Stored,
      onFailure: error =>
        this.#log.debug('Metadata watch failed', { resource: resourceName(resource), error }),
    })
    const abort = new AbortController()
    const signal = AbortSignal.any([abort.signal, this.#signal!])
    cache.onChange(notify)
    const ended = cache.run(signal)
    const end = () => {
      abort.abort(new Error('the kind is no longer served'))
      return ended
    }
    this.#watched.set(resourceName(resource), { resource, cache, end })
    await cache.waitForSync(signal).catch(() => {})
  }
}

/** Returns one version per resource: the preferred one, or the first with the needed verbs. */
function preferredOf(served: readonly DiscoveredResource[]): DiscoveredResource[] {
  const chosen = new Map<string, DiscoveredResource>()
  for (const resource of served) {
    if (!neededVerbs.every(verb => resource.verbs.includes(verb))) continue
    const name = resourceName(resource)
    if (ignored.has(name)) continue
    if (!chosen.has(name) || resource.preferred) chosen.set(name, resource)
  }
  return [...chosen.values()]
}

function metadataOf(metadata: ObjectMeta = {}): ObjectMeta {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, ownerReferences, finalizers } = metadata
  return {
    name,
    namespace,
    uid,
    resourceVersion,
    ...(deletionTimestamp && { deletionTimestamp }),
    ...(ownerReferences?.length && { ownerReferences }),
    ...(finalizers?.length && { finalizers }),
  }
}
