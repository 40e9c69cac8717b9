// SPDX-License-Identifier: Apache-2.0

// Watches one namespace and counts, the same way for the operator and for what it is compared with.
import type { Pod } from '@grove/api'
import { type Client, type KubeObject, type Resource, type Stored, WatchCache } from '@grove/kube'
import { resources } from '@grove/operator'
import { waitFor } from '@grove/test-kubernetes'

const timeoutMs = 600_000
const intervalMs = 10

/** Kinds that are gone only when the last object of a set is. */
const kinds: readonly Resource<KubeObject>[] = [
  resources.pods,
  resources.podCliques,
  resources.podCliqueScalingGroups,
  resources.podGangs,
  resources.services,
  resources.roles,
  resources.roleBindings,
]

export class Onlooker {
  readonly #counts = new Map<string, number>()
  readonly #abort = new AbortController()
  readonly #caches: WatchCache<KubeObject>[]
  #ready = 0
  #free = 0

  constructor(client: Client, namespace: string) {
    this.#caches = kinds.map(resource => {
      const cache = new WatchCache<KubeObject>(client, resource, { namespace, project: bare })
      cache.onChange(change => {
        const step = change.type === 'add' ? 1 : change.type === 'delete' ? -1 : 0
        this.#counts.set(resource.kind, this.count(resource.kind) + step)
        this.#ready += Number(isReady(change.new)) - Number(isReady(change.old))
        this.#free += Number(isFree(change.new)) - Number(isFree(change.old))
      })
      return cache
    })
  }

  async start(): Promise<this> {
    for (const cache of this.#caches) void cache.run(this.#abort.signal)
    await Promise.all(this.#caches.map(cache => cache.waitForSync()))
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

  /** May be placed: nothing of ours holds them back any more. */
  untilFree(wanted: number): Promise<unknown> {
    return this.#until(`${wanted} pods without gates`, () => this.#free >= wanted)
  }

  untilReady(wanted: number): Promise<unknown> {
    return this.#until(`${wanted} ready pods`, () => this.#ready >= wanted)
  }

  untilGone(): Promise<unknown> {
    return this.#until('nothing left', () => kinds.every(({ kind }) => this.count(kind) === 0))
  }

  #until(what: string, holds: () => boolean): Promise<unknown> {
    return waitFor(what, holds, { timeoutMs, intervalMs })
  }
}

/** Only what is counted, so that looking on costs little. */
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
