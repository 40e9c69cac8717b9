// SPDX-License-Identifier: Apache-2.0

// The watch caches of the operator: one per kind, with the indexes by which planners look up objects. The operator's
// own writes are visible here as soon as the API server has responded.
import {
  type ClusterTopologyBinding,
  type ControllerRevision,
  type HorizontalPodAutoscaler,
  label,
  operatorName,
  type Pod,
  type PodClique,
  type PodCliqueScalingGroup,
  type PodCliqueSet,
  type PodGang,
  type ResourceClaim,
  type ResourceClaimTemplate,
  type Role,
  type RoleBinding,
  type Service,
  type ServiceAccount,
} from '@grove/api'
import {
  byControllerUid,
  byLabel,
  type CachedClient,
  type Change,
  type Client,
  type Clock,
  createCachedClient,
  type IndexFunction,
  isNotFound,
  type KubeError,
  type KubeObject,
  type ObservedCache,
  type Resource,
  type ResourceDescriptor,
  type Stored,
  WatchCache,
  type WriteRecorder,
} from '@grove/kube'
import { type SetKey, setKey } from '../layout/object-key.ts'
import type { InNamespace, StoredPod } from '../layout/stored.ts'
import type { ComputeDomain } from '../objects/compute-domain.ts'
import type { KaiTopology } from '../objects/kai-topology.ts'
import type { SchedulerObject } from '../schedulers/backend.ts'
import { projectPod } from './pod-projection.ts'
import { byReplica } from './replica-index.ts'
import { resources, schedulerObjectKinds } from './resources.ts'

export interface CachesOptions {
  /** The optional kinds to watch. Default: none. */
  readonly watches?: (resource: ResourceDescriptor) => OptionalWatch
  readonly clock?: Clock
  readonly onFailure?: (resource: string, error: KubeError, retryInMs: number) => void
}

/**
 * `late`: the cluster does not serve the kind yet. The operator starts without it, and watches the kind as soon as it
 * is served.
 */
export type OptionalWatch = 'now' | 'late' | 'never'

type Owned<T extends KubeObject> = WatchCache<T, T, 'controller'>
type GroupIndex = 'controller' | 'set' | 'replica'
type CliqueIndex = GroupIndex | 'basePodGang'

const managedByGrove = `${label.managedBy}=${operatorName}`

export class Caches {
  readonly client: CachedClient
  readonly sets: WatchCache<PodCliqueSet, InNamespace<PodCliqueSet>>
  readonly groups: WatchCache<PodCliqueScalingGroup, InNamespace<PodCliqueScalingGroup>, GroupIndex>
  readonly cliques: WatchCache<PodClique, InNamespace<PodClique>, CliqueIndex>
  readonly gangs: WatchCache<PodGang, InNamespace<PodGang>, 'controller'>
  readonly pods: WatchCache<Pod, InNamespace<Pod>, 'controller' | 'replica'>
  readonly services: Owned<Service>
  readonly serviceAccounts: Owned<ServiceAccount>
  readonly roles: Owned<Role>
  readonly roleBindings: Owned<RoleBinding>
  readonly autoscalers: Owned<HorizontalPodAutoscaler>
  readonly topologyBindings: WatchCache<ClusterTopologyBinding>
  readonly computeDomains: Owned<ComputeDomain> | undefined
  /** Undefined also if RBAC does not permit reading them: sets then have no revision history. */
  readonly controllerRevisions: Owned<ControllerRevision> | undefined
  /** For event handlers. Contains nothing and emits nothing while the cluster does not serve the kind. */
  readonly optional: OptionalCaches
  readonly #running: { readonly cache: RunningCache; readonly isLate: boolean }[] = []

  constructor(client: Client, options: CachesOptions = {}) {
    this.client = createCachedClient(client)
    const watches = options.watches ?? (() => 'never')
    const keep = <T extends KubeObject, C extends WatchCacheOf<T>>(cache: C): C => {
      this.#running.push({ cache, isLate: watches(cache.resource) === 'late' })
      this.client.attach<T>(cache)
      return cache
    }
    const common = (resource: ResourceDescriptor) => ({
      ...(options.clock && { clock: options.clock }),
      ...(options.onFailure && {
        onFailure: (error: KubeError, retryInMs: number) => {
          const isAwaited = watches(resource) === 'late' && isNotFound(error)
          if (!isAwaited) options.onFailure!(resource.resource, error, retryInMs)
        },
      }),
    })
    // Caches only objects of Grove: there may be many others, which would only cost memory.
    const ours = <T extends KubeObject>(resource: Resource<T>): Owned<T> =>
      keep(
        new WatchCache<T, T, 'controller'>(client, resource, {
          ...common(resource),
          labelSelector: managedByGrove,
          indexes: { controller: byController },
        }),
      )
    const bySet = byLabel(label.partOf, { namespaced: true })
    this.sets = keep(
      new WatchCache<PodCliqueSet, InNamespace<PodCliqueSet>>(
        client,
        resources.podCliqueSets,
        common(resources.podCliqueSets),
      ),
    )
    this.groups = keep(
      new WatchCache<PodCliqueScalingGroup, InNamespace<PodCliqueScalingGroup>, GroupIndex>(
        client,
        resources.podCliqueScalingGroups,
        {
          ...common(resources.podCliqueScalingGroups),
          indexes: { controller: byController, set: bySet, replica: byReplica },
        },
      ),
    )
    this.cliques = keep(
      new WatchCache<PodClique, InNamespace<PodClique>, CliqueIndex>(client, resources.podCliques, {
        ...common(resources.podCliques),
        indexes: {
          controller: byController,
          set: bySet,
          replica: byReplica,
          basePodGang: byLabel(label.basePodGang, { namespaced: true }),
        },
      }),
    )
    this.gangs = keep(
      new WatchCache<PodGang, InNamespace<PodGang>, 'controller'>(client, resources.podGangs, {
        ...common(resources.podGangs),
        indexes: { controller: byController },
      }),
    )
    this.pods = keep(
      new WatchCache<Pod, InNamespace<Pod>, 'controller' | 'replica'>(client, resources.pods, {
        ...common(resources.pods),
        labelSelector: managedByGrove,
        indexes: { controller: byController, replica: byReplica },
        project: projectPod,
      }),
    )
    this.services = ours(resources.services)
    this.serviceAccounts = ours(resources.serviceAccounts)
    this.roles = ours(resources.roles)
    this.roleBindings = ours(resources.roleBindings)
    this.autoscalers = ours(resources.autoscalers)
    const isWatched = (resource: ResourceDescriptor) => watches(resource) !== 'never'
    this.computeDomains = isWatched(resources.computeDomains) ? ours(resources.computeDomains) : undefined
    this.controllerRevisions = isWatched(resources.controllerRevisions)
      ? ours(resources.controllerRevisions)
      : undefined
    this.optional = {
      resourceClaims: isWatched(resources.resourceClaims) ? ours(resources.resourceClaims) : undefined,
      claimTemplates: isWatched(resources.resourceClaimTemplates)
        ? keep(
            new WatchCache<ResourceClaimTemplate>(client, resources.resourceClaimTemplates, {
              ...common(resources.resourceClaimTemplates),
              project: existenceOf,
            }),
          )
        : undefined,
      kaiTopologies: isWatched(resources.kaiTopologies)
        ? keep(new WatchCache<KaiTopology>(client, resources.kaiTopologies, common(resources.kaiTopologies)))
        : undefined,
      schedulerObjects: schedulerObjectKinds.filter(isWatched).map(resource => ours(resource)),
    }
    this.topologyBindings = keep(
      new WatchCache<ClusterTopologyBinding>(
        client,
        resources.clusterTopologyBindings,
        common(resources.clusterTopologyBindings),
      ),
    )
  }

  /** Lists and watches until the signal is aborted. */
  run(signal: AbortSignal): Promise<unknown> {
    return Promise.all(this.#running.map(({ cache }) => cache.run(signal)))
  }

  async waitForSync(signal?: AbortSignal): Promise<void> {
    const awaited = this.#running.filter(({ isLate }) => !isLate)
    await Promise.all(awaited.map(({ cache }) => cache.waitForSync(signal)))
  }

  /** Undefined while the cluster does not serve them. */
  get resourceClaims(): Owned<ResourceClaim> | undefined {
    const { resourceClaims } = this.optional
    return resourceClaims?.hasSynced ? resourceClaims : undefined
  }

  /**
   * The objects of this kind that schedulers read for the operator's gangs; undefined while the cluster does not serve
   * the kind.
   */
  schedulerObjects(kind: ResourceDescriptor): Owned<SchedulerObject> | undefined {
    return this.optional.schedulerObjects.find(({ resource, hasSynced }) => hasSynced && resource === kind)
  }

  /** All caches, for metrics. */
  get observed(): readonly ObservedCache[] {
    return this.#running.map(({ cache }) => cache)
  }

  /** Registers a handler for every change of any object except pods, which change too often. */
  onChangeOfAny(handler: (change: Change<KubeObject>, resource: string) => void): void {
    for (const { cache } of this.#running)
      if ((cache as unknown) !== this.pods) cache.onChange(change => handler(change, cache.resource.resource))
  }

  podsOf(clique: KubeObject): StoredPod[] {
    return this.pods.byIndex('controller', clique.metadata?.uid ?? '')
  }
}

/** An object without a controller is indexed under the set that its labels name. */
export const byController: IndexFunction<KubeObject> = object => {
  const uid = byControllerUid(object)
  const set = object.metadata.labels?.[label.partOf]
  return uid ?? (set && orphansOf(setKey({ namespace: object.metadata.namespace, name: set })))
}

/** The key of indexes by controller for objects of a set that have no controller. */
export function orphansOf(set: SetKey): string {
  return `orphans of ${set}`
}

function existenceOf<T extends KubeObject>({ apiVersion, kind, metadata }: Stored<T>): Stored<T> {
  const { name, namespace, uid, resourceVersion } = metadata
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } } as Stored<T>
}

interface OptionalCaches {
  readonly resourceClaims: Owned<ResourceClaim> | undefined
  /** Caches the names of all claim templates, including those of users. The content is read when a claim is created. */
  readonly claimTemplates: WatchCache<ResourceClaimTemplate> | undefined
  readonly kaiTopologies: WatchCache<KaiTopology> | undefined
  readonly schedulerObjects: readonly Owned<SchedulerObject>[]
}

type WatchCacheOf<T extends KubeObject> = RunningCache & WriteRecorder<T> & { readonly resource: Resource<T> }

interface RunningCache extends ObservedCache {
  run(signal: AbortSignal): Promise<void>
  waitForSync(signal?: AbortSignal): Promise<void>
  onChange(handler: (change: Change<KubeObject>) => void): () => void
}
