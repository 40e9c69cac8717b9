// SPDX-License-Identifier: Apache-2.0

// Watches one namespace and counts objects, in the same way for the operator and its baselines.
import { label, operatorName, type Pod } from '@grove/api'
import { type Client, isNotFound, type KubeObject, type Resource, type Stored, WatchCache } from '@grove/kube'
import { resources } from '@grove/operator'
import { waitFor } from '@grove/test-kubernetes'

const timeoutMs = 600_000
const intervalMs = 10

/** Every kind of object of a set, and the set itself. Some clusters do not serve the last of them. */
const kinds: readonly Resource<KubeObject>[] = [
  resources.podCliqueSets,
  resources.pods,
  resources.podCliques,
  resources.podCliqueScalingGroups,
  resources.podGangs,
  resources.services,
  resources.autoscalers,
  resources.serviceAccounts,
  resources.secrets,
  resources.roles,
  resources.roleBindings,
  resources.controllerRevisions,
  resources.resourceClaims,
  resources.computeDomains,
  resources.kaiPodGroups,
  resources.volcanoPodGroups,
]

/** Namespaces also hold objects of the cluster, such as the default ServiceAccount. Sets carry no such label. */
const ofSets = `${label.managedBy}=${operatorName}`

export class Observer {
  readonly #counts = new Map<string, number>()
  readonly #abort = new AbortController()
  readonly #client: Client
  readonly #namespace: string
  #watched: readonly Resource<KubeObject>[] = []
  #ready = 0
  #readyGangs = 0
  #free = 0

  constructor(client: Client, namespace: string) {
    this.#client = client
    this.#namespace = namespace
  }

  async start(): Promise<this> {
    const served = await Promise.all(kinds.map(resource => isServed(this.#client, resource, this.#namespace)))
    this.#watched = kinds.filter((_, at) => served[at])
    const caches = this.#watched.map(resource => {
      const cache = new WatchCache<KubeObject>(this.#client, resource, {
        namespace: this.#namespace,
        project: bare,
        ...(resource.kind !== resources.podCliqueSets.kind && { labelSelector: ofSets }),
      })
      cache.onChange(change => {
        const step = change.type === 'add' ? 1 : change.type === 'delete' ? -1 : 0
        this.#counts.set(resource.kind, this.count(resource.kind) + step)
        const ready = Number(isReady(change.new)) - Number(isReady(change.old))
        // PodGangs have a condition Ready, too.
        if (resource.kind === resources.podGangs.kind) this.#readyGangs += ready
        if (resource.kind !== resources.pods.kind) return
        this.#ready += ready
        this.#free += Number(isFree(change.new)) - Number(isFree(change.old))
      })
      return cache
    })
    for (const cache of caches) void cache.run(this.#abort.signal)
    await Promise.all(caches.map(cache => cache.waitForSync()))
    return this
  }

  stop(): void {
    this.#abort.abort()
  }

  count(kind: string): number {
    return this.#counts.get(kind) ?? 0
  }

  untilPods(wanted: number): Promise<unknown> {
    return this.#until(`${wanted} pods`, () => this.count('Pod') === wanted)
  }

  /** Pods without gates. */
  untilFree(wanted: number): Promise<unknown> {
    return this.#until(`${wanted} pods without gates`, () => this.#free >= wanted)
  }

  untilReady(wanted: number): Promise<unknown> {
    return this.#until(`${wanted} ready pods`, () => this.#ready >= wanted)
  }

  /** The statuses of the gangs say that they are ready. */
  untilGangsReady(wanted: number): Promise<unknown> {
    return this.#until(`${wanted} ready gangs`, () => this.#readyGangs >= wanted)
  }

  untilGone(): Promise<unknown> {
    return this.#until('nothing left', () => this.#watched.every(({ kind }) => this.count(kind) === 0))
  }

  #until(what: string, holds: () => boolean): Promise<unknown> {
    return waitFor(what, holds, { timeoutMs, intervalMs })
  }
}

async function isServed(client: Client, resource: Resource<KubeObject>, namespace: string): Promise<boolean> {
  try {
    await client.page(resource, { namespace, limit: 1 })
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

/** Keeps only the counted fields, so that the observation is cheap. */
function bare(object: Stored<KubeObject>): Stored<KubeObject> {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp } = object.metadata
  return {
    metadata: {
      name,
      ...(namespace && { namespace }),
      uid,
      resourceVersion,
      creationTimestamp,
      ...(deletionTimestamp && { deletionTimestamp }),
    },
    ...(isFree(object) && { spec: {} }),
    ...(isReady(object) && { status: { conditions: [{ type: 'Ready', status: 'True' }] } }),
  } as Stored<KubeObject>
}

function isFree(object: KubeObject | undefined): boolean {
  const spec = (object as Pod | undefined)?.spec
  return spec !== undefined && !spec.schedulingGates?.length
}

function isReady(object: KubeObject | undefined): boolean {
  const conditions = (object as Pod | undefined)?.status?.conditions
  return (
    Array.isArray(conditions) && conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
  )
}
