// SPDX-License-Identifier: Apache-2.0

import { type DiscoveredResource, isKubeError, isNotFound, resourceName, type Stored } from '@grove/kube'
import { changesOf } from '../changes.ts'
import { ControlLoop, type Requeue } from '../control-loop.ts'
import { type Namespace, namespaces } from '../kinds.ts'
import type { MetadataMonitor } from '../metadata-monitor.ts'
import type { Runtime } from '../runtime.ts'
import { contentConditions, mergeConditions, type Remaining } from './conditions.ts'

const namespaceFinalizer = 'kubernetes'
const workers = 4
/** Some resources are not watched, so a terminating namespace is checked periodically. */
const recheckMs = 5_000

/**
 * Deletes the content of a terminating namespace, pods first, and removes the namespace when it is empty. The
 * API server prevents new objects in it.
 */
export class NamespaceController extends ControlLoop {
  readonly #monitor: MetadataMonitor

  constructor(runtime: Runtime, monitor: MetadataMonitor) {
    super('namespace-controller', runtime, workers)
    const { caches } = runtime
    this.#monitor = monitor
    const cache = caches.of(namespaces)
    this.watch(
      changesOf(cache, ({ new: namespace }) =>
        namespace?.metadata.deletionTimestamp ? [namespace.metadata.name] : [],
      ),
      enqueue =>
        monitor.onChange(({ change }) => {
          const name = change.type === 'delete' ? change.old.metadata.namespace : undefined
          if (name && cache.get({ name })?.metadata.deletionTimestamp) enqueue(name)
        }),
    )
  }

  protected async reconcile(name: string): Promise<Requeue> {
    const namespace = this.runtime.caches.of(namespaces).get({ name })
    if (!namespace?.metadata.deletionTimestamp) return undefined
    if (!namespace.spec?.finalizers?.includes(namespaceFinalizer)) return undefined
    // While known objects are terminating, another deletion of everything would not help.
    const known = this.#monitor.objectsIn(name)
    const isTerminating = known.length > 0 && known.every(({ metadata }) => metadata.deletionTimestamp)
    const remaining = isTerminating ? this.#known(name) : await this.#empty(name)
    try {
      await this.#report(namespace, remaining)
      if (remaining.length === 0) await this.#finalize(name)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    return remaining.length === 0 ? undefined : { requeueAfter: recheckMs }
  }

  #known(name: string): Remaining[] {
    const finalizers = this.#monitor.objectsIn(name).flatMap(({ metadata }) => metadata.finalizers ?? [])
    return this.#monitor.contentOf(name).map(({ resource, count }, index) => ({
      resource: resourceName(resource),
      count,
      finalizers: index ? [] : finalizers,
    }))
  }

  /** Deletes everything in the namespace. Returns the objects that were there. */
  async #empty(name: string): Promise<Remaining[]> {
    const inside = this.#monitor.resources.filter(({ namespaced }) => namespaced)
    const isPods = (resource: DiscoveredResource) => resourceName(resource) === 'pods'
    const found = await Promise.all(inside.filter(isPods).map(resource => this.#deleteAll(resource, name)))
    // Other objects stay until the pods that use them have ended.
    if (found.some(({ count }) => count > 0)) return found.filter(({ count }) => count > 0)
    const rest = [...inside.filter(resource => !isPods(resource)), eventsResource]
    found.push(...(await Promise.all(rest.map(resource => this.#deleteAll(resource, name)))))
    return found.filter(({ count }) => count > 0)
  }

  async #deleteAll(resource: DiscoveredResource, namespace: string): Promise<Remaining> {
    const { client } = this.runtime
    const nameOf = resourceName(resource)
    try {
      if (resource.verbs.includes('deletecollection')) {
        const options = { namespace, propagationPolicy: 'Background' as const }
        const { items } = await client.deleteCollection(resource, options)
        const waiting = resource === eventsResource ? [] : items
        return { resource: nameOf, count: waiting.length, finalizers: finalizersOf(waiting) }
      }
      const { items } = await client.list(resource, { namespace })
      for (const { metadata } of items) await client.delete(resource, metadata).catch(ignoreMissing)
      return { resource: nameOf, count: items.length, finalizers: finalizersOf(items) }
    } catch (error) {
      // A kind whose definition was deleted in the meantime has no objects left.
      if (isKubeError(error, 'NotFound', 'MethodNotAllowed'))
        return { resource: nameOf, count: 0, finalizers: [] }
      throw error
    }
  }

  async #report(namespace: Stored<Namespace>, remaining: readonly Remaining[]): Promise<void> {
    const now = this.runtime.clock.now()
    const conditions = mergeConditions(namespace.status?.conditions, contentConditions(remaining), now)
    if (!conditions) return
    // spec.finalizers keeps the namespace, but the cache would treat the response as a removal. A raw request
    // bypasses it.
    await this.runtime.client.raw({
      verb: 'patch',
      method: 'PATCH',
      path: `/api/v1/namespaces/${namespace.metadata.name}/status`,
      body: { status: { conditions } },
      contentType: 'application/merge-patch+json',
      resource: 'namespaces/status',
      idempotent: true,
    })
  }

  async #finalize(name: string): Promise<void> {
    const { client } = this.runtime
    const namespace = await client.find(namespaces, { name })
    if (!namespace) return
    const finalizers = (namespace.spec?.finalizers ?? []).filter(each => each !== namespaceFinalizer)
    await client.raw({
      verb: 'update',
      method: 'PUT',
      path: `/api/v1/namespaces/${name}/finalize`,
      body: { ...namespace, apiVersion: 'v1', kind: 'Namespace', spec: { ...namespace.spec, finalizers } },
      resource: 'namespaces/finalize',
      idempotent: true,
    })
  }
}

/** Events are not watched, but they are deleted too. */
const eventsResource: DiscoveredResource = {
  group: '',
  version: 'v1',
  resource: 'events',
  kind: 'Event',
  namespaced: true,
  singular: 'event',
  verbs: ['deletecollection'],
  shortNames: [],
  categories: [],
  subresources: [],
  preferred: true,
}

function finalizersOf(items: readonly Stored[]): string[] {
  return items.flatMap(({ metadata }) => metadata.finalizers ?? [])
}

function ignoreMissing(error: unknown): void {
  if (!isNotFound(error)) throw error
}
