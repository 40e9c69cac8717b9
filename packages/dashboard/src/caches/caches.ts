// SPDX-License-Identifier: Apache-2.0

// The watch caches of the dashboard, with the indexes by which pages look up objects.
import {
  apiVersion,
  type ClusterTopologyBinding,
  label,
  type Node,
  type Pod,
  type PodClique,
  type PodCliqueScalingGroup,
  type PodCliqueSet,
  type PodGang,
  schedulerApiVersion,
} from '@grove/api'
import type { SetObjects } from '@grove/inspect'
import {
  byLabel,
  type Client,
  type Clock,
  isNotFound,
  type KubeError,
  type KubeObject,
  type Resource,
  type Stored,
  WatchCache,
  type WatchCacheOptions,
} from '@grove/kube'
import {
  type CachedNode,
  type CachedPod,
  projectClique,
  projectEvent,
  projectGang,
  projectGroup,
  projectNode,
  projectPod,
  projectSet,
} from './projections.ts'
import { resources, type StoredEvent } from './resources.ts'

export interface DashboardCachesOptions {
  /** Only objects of this namespace, and no nodes: the devices that other namespaces use are not known then. */
  readonly namespace?: string
  readonly clock?: Clock
  readonly onFailure?: (resource: string, error: KubeError, retryInMs: number) => void
}

/** A kind that cannot be read, and why. */
export interface CacheProblem {
  readonly resource: string
  readonly message: string
  /** The dashboard cannot show anything without this kind. */
  readonly isRequired: boolean
}

const notServed = 'the cluster does not serve this kind; install the operator or its CRDs first'

/** An API server sends at least a bookmark every minute. */
const staleAfterSeconds = 150

interface Running {
  readonly cache: Pick<WatchCache, 'run' | 'waitForSync' | 'status' | 'hasSynced'> & {
    onChange(handler: () => void): () => void
  }
  readonly resource: string
  readonly isRequired: boolean
}

export class DashboardCaches {
  readonly sets: WatchCache<PodCliqueSet>
  readonly pods: WatchCache<Pod, CachedPod, 'set'>
  readonly nodes: WatchCache<Node, CachedNode>
  readonly gangs: WatchCache<PodGang, PodGang, 'set'>
  readonly topologyBindings: WatchCache<ClusterTopologyBinding>
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined
  readonly #groups: WatchCache<PodCliqueScalingGroup, PodCliqueScalingGroup, 'set'>
  readonly #cliques: WatchCache<PodClique, PodClique, 'set'>
  readonly #events: readonly WatchCache<StoredEvent & KubeObject>[]
  readonly #running: Running[] = []
  readonly #failures = new Map<string, string>()

  constructor(client: Client, options: DashboardCachesOptions = {}) {
    const { namespace, clock } = options
    this.namespace = namespace
    const watch = <T extends KubeObject, P extends KubeObject = T, I extends string = never>(
      resource: Resource<T>,
      isRequired: boolean,
      own: WatchCacheOptions<T, P, I>,
      isRun = true,
    ): WatchCache<T, P, I> => {
      const cache = new WatchCache<T, P, I>(client, resource, {
        ...(namespace !== undefined && resource.namespaced && { namespace }),
        ...(clock && { clock }),
        ...own,
        onFailure: (error, retryInMs) => {
          // For a kind that it does not serve, an API server returns only the text of the HTTP status.
          const { message } = error
          this.#failures.set(resource.resource, isNotFound(error) ? notServed : message)
          options.onFailure?.(resource.resource, error, retryInMs)
        },
      })
      if (isRun) this.#running.push({ cache, resource: resource.resource, isRequired })
      return cache
    }
    const ofSet = {
      labelSelector: label.partOf,
      indexes: { set: byLabel(label.partOf, { namespaced: true }) },
    }
    this.sets = watch<PodCliqueSet>(resources.podCliqueSets, true, { project: projectSet })
    this.#groups = watch<PodCliqueScalingGroup, PodCliqueScalingGroup, 'set'>(
      resources.podCliqueScalingGroups,
      true,
      { ...ofSet, project: projectGroup },
    )
    this.#cliques = watch<PodClique, PodClique, 'set'>(resources.podCliques, true, {
      ...ofSet,
      project: projectClique,
    })
    this.gangs = watch<PodGang, PodGang, 'set'>(resources.podGangs, true, { ...ofSet, project: projectGang })
    // All pods: the devices of a node are also used by pods that belong to no set.
    this.pods = watch<Pod, CachedPod, 'set'>(resources.pods, true, {
      indexes: ofSet.indexes,
      project: projectPod,
    })
    const isClusterWide = namespace === undefined
    this.nodes = watch<Node, CachedNode>(resources.nodes, false, { project: projectNode }, isClusterWide)
    this.topologyBindings = watch<ClusterTopologyBinding>(
      resources.topologyBindings,
      false,
      {},
      isClusterWide,
    )
    // Omits events of pods: there are many, and the status of a pod has its reason.
    this.#events = [apiVersion, schedulerApiVersion].map(group =>
      watch<StoredEvent & KubeObject>(resources.events, false, {
        fieldSelector: `involvedObject.apiVersion=${group}`,
        project: projectEvent,
      }),
    )
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#running.map(({ cache }) => cache.run(signal)))
  }

  /** Resolves when the kinds that every page needs are synced. */
  async waitForSync(signal?: AbortSignal): Promise<void> {
    const required = this.#running.filter(({ isRequired }) => isRequired)
    await Promise.all(required.map(({ cache }) => cache.waitForSync(signal)))
  }

  get hasSynced(): boolean {
    return this.#running.every(({ cache, isRequired }) => cache.hasSynced || !isRequired)
  }

  /** Kinds that have never been read, with the last error of the API server. */
  problems(): CacheProblem[] {
    return this.#running
      .filter(({ cache, resource }) => !cache.hasSynced && this.#failures.has(resource))
      .map(({ resource, isRequired }) => ({ resource, isRequired, message: this.#failures.get(resource)! }))
      .filter(({ resource }, at, all) => all.findIndex(other => other.resource === resource) === at)
  }

  /** Reports whether a watch is silent for so long that the pages may be out of date. */
  get isStale(): boolean {
    return this.#running.some(({ cache }) => (cache.status().silentSeconds ?? 0) > staleAfterSeconds)
  }

  onChange(handler: () => void): void {
    for (const { cache } of this.#running) cache.onChange(() => handler())
  }

  objectsOf(set: Stored<PodCliqueSet>): SetObjects & { readonly pods: readonly CachedPod[] } {
    const key = `${set.metadata.namespace}/${set.metadata.name}`
    return {
      set,
      groups: this.#groups.byIndex('set', key),
      cliques: this.#cliques.byIndex('set', key),
      gangs: this.gangs.byIndex('set', key),
      // The label is a common one, which pods of other owners may have as well.
      pods: this.pods
        .byIndex('set', key)
        .filter(({ metadata }) => metadata.labels?.[label.podClique] !== undefined),
    }
  }

  events(): Stored<StoredEvent>[] {
    return this.#events.flatMap(cache => cache.list() as Stored<StoredEvent>[])
  }
}
