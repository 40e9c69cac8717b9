// SPDX-License-Identifier: Apache-2.0

import {
  type Change,
  type Client,
  type Clock,
  type KubeError,
  type KubeObject,
  type ObservedCache,
  type Resource,
  type ResourceDescriptor,
  resourceName,
  WatchCache,
} from '@grove/kube'
import type { SnapshotObjects } from '../types.ts'
import { gangNeedsCycle, nodeNeedsCycle, podNeedsCycle } from './needs-cycle.ts'
import { resources } from './resources.ts'

export interface SchedulerCachesOptions {
  readonly clock?: Clock
  /** Reports whether the cluster serves a kind. A kind that is not served counts as empty. Default: all are served. */
  readonly serves?: (resource: ResourceDescriptor) => boolean
  readonly onFailure?: (resource: string, error: KubeError, retryInMs: number) => void
}

/**
 * Watch caches of everything that decides about placement.
 *
 * Not promised: that a binding of this process is visible at once. The binder keeps bindings as assumed pods until the
 * watch shows them.
 */
export class SchedulerCaches {
  readonly nodes
  readonly pods
  readonly podGangs
  readonly resourceClaims
  readonly deviceClasses
  readonly #others
  readonly #running: WatchCache<KubeObject>[] = []
  /** Caches with a predicate. Every change of the other kinds leads to a cycle: they change rarely. */
  readonly #predicates = new Map<unknown, (change: Change<KubeObject>) => boolean>()

  constructor(client: Client, options: SchedulerCachesOptions = {}) {
    const { clock, serves = () => true, onFailure } = options
    const watch = <T extends KubeObject>(
      resource: Resource<T>,
      needsCycle?: (change: Change<T>) => boolean,
    ) => {
      const cache = newCache<T>(client, resource, { clock, onFailure })
      if (needsCycle) this.#predicates.set(cache, needsCycle as (change: Change<KubeObject>) => boolean)
      if (serves(resource)) this.#running.push(cache as unknown as WatchCache<KubeObject>)
      return cache
    }
    this.nodes = watch(resources.nodes, nodeNeedsCycle)
    this.pods = watch(resources.pods, podNeedsCycle)
    this.podGangs = watch(resources.podGangs, gangNeedsCycle)
    this.resourceClaims = watch(resources.resourceClaims)
    this.deviceClasses = watch(resources.deviceClasses)
    this.#others = {
      topologyBindings: watch(resources.topologyBindings),
      priorityClasses: watch(resources.priorityClasses),
      namespaces: watch(resources.namespaces),
      persistentVolumes: watch(resources.persistentVolumes),
      persistentVolumeClaims: watch(resources.persistentVolumeClaims),
      storageClasses: watch(resources.storageClasses),
      podDisruptionBudgets: watch(resources.podDisruptionBudgets),
      resourceSlices: watch(resources.resourceSlices),
      resourceClaimTemplates: watch(resources.resourceClaimTemplates),
    }
  }

  run(signal: AbortSignal): Promise<unknown> {
    return Promise.all(this.#running.map(cache => cache.run(signal)))
  }

  async waitForSync(signal?: AbortSignal): Promise<void> {
    await Promise.all(this.#running.map(cache => cache.waitForSync(signal)))
  }

  /** Calls the handler for every change that can alter a decision or the status of a gang. */
  onChange(handler: () => void): () => void {
    const unsubscribe = this.#running.map(cache => {
      const needsCycle = this.#predicates.get(cache) ?? (() => true)
      return cache.onChange(change => needsCycle(change) && handler())
    })
    return () => {
      for (const one of unsubscribe) one()
    }
  }

  /** The caches that run, for metrics. */
  get observed(): readonly ObservedCache[] {
    return this.#running
  }

  objects(): SnapshotObjects {
    const others = this.#others
    return {
      nodes: this.nodes.list(),
      pods: this.pods.list(),
      podGangs: this.podGangs.list(),
      topologyBindings: others.topologyBindings.list(),
      priorityClasses: others.priorityClasses.list(),
      namespaces: others.namespaces.list(),
      persistentVolumes: others.persistentVolumes.list(),
      persistentVolumeClaims: others.persistentVolumeClaims.list(),
      storageClasses: others.storageClasses.list(),
      podDisruptionBudgets: others.podDisruptionBudgets.list(),
      resourceSlices: others.resourceSlices.list(),
      resourceClaimTemplates: others.resourceClaimTemplates.list(),
      resourceClaims: this.resourceClaims.list(),
      deviceClasses: this.deviceClasses.list(),
    }
  }
}

function newCache<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  { clock, onFailure }: Pick<SchedulerCachesOptions, 'clock' | 'onFailure'>,
): WatchCache<T> {
  return new WatchCache<T>(client, resource, {
    ...(clock && { clock }),
    ...(onFailure && {
      onFailure: (error: KubeError, retryInMs: number) => onFailure(resourceName(resource), error, retryInMs),
    }),
  })
}
