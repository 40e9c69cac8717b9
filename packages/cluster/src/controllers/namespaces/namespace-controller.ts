// SPDX-License-Identifier: Apache-2.0

import { type DiscoveredResource, isKubeError, isNotFound, resourceName, type Stored } from '@grove/kube'
import { changesOf } from '../changes.ts'
import { ControlLoop, type Requeue } from '../control-loop.ts'
import { type Namespace, namespaces } from '../kinds.ts'
import type { MetadataMonitor } from '../metadata-monitor.ts'
import type { Runtime } from '../runtime.ts'
import { contentConditions, mergeConditions, type Remaining } from './conditions.ts'

export const namespaceFinalizer = 'kubernetes'
const workers = 4
/** Something may be left that is not watched: look again even without a change. */
const lookAgainMs = 5_000

/**
 * Empties a namespace that is being deleted, pods first, and lets it go when nothing is left. That nothing new is
 * created in it meanwhile is the API server's business.
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
    // While something known is still on its way out there is nothing to be gained by asking for everything again.
    const known = this.#monitor.objectsIn(name)
    const told = known.length > 0 && known.every(({ metadata }) => metadata.deletionTimestamp)
    const remaining = told ? this.#known(name) : await this.#empty(name)
    try {
      await this.#report(namespace, remaining)
      if (remaining.length === 0) await this.#finalize(name)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    return remaining.length === 0 ? undefined : { requeueAfter: lookAgainMs }
  }

  #known(name: string): Remaining[] {
    const finalizers = this.#monitor.objectsIn(name).flatMap(({ metadata }) => metadata.finalizers ?? [])
    return this.#monitor.contentOf(name).map(({ resource, count }, index) => ({
      resource: resourceName(resource),
      count,
      finalizers: index ? [] : finalizers,
    }))
  }

  /** Deletes everything in the namespace; returns what was there. */
  async #empty(name: string): Promise<Remaining[]> {
    const inside = this.#monitor.resources.filter(({ namespaced }) => namespaced)
    const isPods = (resource: DiscoveredResource) => resourceName(resource) === 'pods'
    const found = await Promise.all(inside.filter(isPods).map(resource => this.#deleteAll(resource, name)))
    // What pods use stays until they have ended.
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
      // A kind that was taken away meanwhile has no objects left.
      if (isKubeError(error, 'NotFound', 'MethodNotAllowed'))
        return { resource: nameOf, count: 0, finalizers: [] }
      throw error
    }
  }

  async #report(namespace: Stored<Namespace>, remaining: readonly Remaining[]): Promise<void> {
    const now = this.runtime.clock.now()
    const conditions = mergeConditions(namespace.status?.conditions, contentConditions(remaining), now)
    if (!conditions) return
    // A namespace is held by spec.finalizers, which caches do not know: taken over there, it would count as gone.
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

/** Not watched, because nobody waits for them; deleted all the same. */
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
