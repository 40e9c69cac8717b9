// SPDX-License-Identifier: Apache-2.0

// A minimal API server in memory for the reconcilers, without delays, and the caches that they read: up to date, or
// late. Another client may write between any two writes, and any write may fail.
import { label, type Pod } from '@grove/api'
import { applyMergePatch, matchesLabels, parseLabelSelector } from '@grove/apimachinery'
import {
  type Change,
  type Clock,
  KubeError,
  type KubeErrorCode,
  type KubeObject,
  type ObjectRef,
  type Resource,
  type Stored,
} from '@grove/kube'
import { byController, type Caches } from '../../caches/caches.ts'
import { byReplica } from '../../caches/replica-index.ts'
import { resources } from '../../caches/resources.ts'
import { type Index, LateCache } from './late-cache.ts'
import type { Random } from './random.ts'

export interface Write {
  readonly verb: 'create' | 'patch' | 'delete'
  readonly resource: string
  /** The objects that the write changes or deletes. */
  readonly objects: readonly Stored<KubeObject>[]
  readonly patch?: unknown
  /** The UID in the body of a patch, or in the preconditions of a delete. */
  readonly uid?: string | undefined
  /** True for a delete by label. */
  readonly isCollection?: boolean
}

/** Reads of the objects of one cluster. */
export interface View {
  list<T extends KubeObject>(resource: Resource<T>): Stored<T>[]
  controlledBy<T extends KubeObject>(resource: Resource<T>, uid: string): Stored<T>[]
  get<T extends KubeObject>(resource: Resource<T>, name: string): Stored<T> | undefined
}

export interface SimulatedApiOptions {
  /** True if the cluster serves the optional kinds: claims, revisions, PodGroups. */
  readonly servesOptionalKinds?: boolean
  /** True if watch events arrive late. Responses to the operator's own writes are in the caches at once. */
  readonly isLate?: boolean
}

export interface Hooks {
  /** Called before every write of the operator. Throws to reject it. */
  before(write: Write): Promise<void>
  /** Called after every write. Throws to simulate a lost response. */
  after(write: Write): void
}

type Observer = (change: Change<KubeObject>, resource: string) => void
type Body = { readonly metadata?: { readonly uid?: string; readonly resourceVersion?: string } }
type Patch = { readonly merge?: Body; readonly strategic?: Body }
type Options = { readonly subresource?: string; readonly preconditions?: { readonly uid?: string } }

const dependents = [
  resources.podCliques,
  resources.pods,
  resources.resourceClaims,
  resources.kaiPodGroups,
] as unknown as Resource[]

export class SimulatedApi implements View {
  readonly caches: Caches
  /** The objects in the caches. */
  readonly cached: View
  hooks: Hooks = { before: async () => undefined, after: () => undefined }
  writes = 0
  /** If false, dependents of a removed object stay, as they do while the garbage collector is busy. */
  collectsGarbage = true
  readonly #clock: Clock
  readonly #kinds = new Map<string, Map<string, Stored<KubeObject>>>()
  /** Kind and UID of a controller → the objects that it controls, by name. */
  readonly #controlled = new Map<string, Map<string, Stored<KubeObject>>>()
  /** Observers of the caches of every kind except pods. */
  readonly #observers: Observer[] = []
  /** Observers of one kind, by its resource. */
  readonly #observersOf = new Map<string, Observer[]>()
  /** By resource; empty if caches are up to date. */
  readonly #late = new Map<string, LateCache>()
  #counter = 0

  constructor(clock: Clock, { servesOptionalKinds = false, isLate = false }: SimulatedApiOptions = {}) {
    this.#clock = clock
    this.caches = this.#makeCaches(servesOptionalKinds, isLate)
    this.cached = isLate ? this.#cachedView() : this
  }

  /** These objects in the versions of the cache. An object that is not in the cache stays unchanged. */
  asCached(resource: string, objects: readonly Stored<KubeObject>[]): readonly Stored<KubeObject>[] {
    const store = this.#late.get(resource)?.store
    return objects.map(object => {
      const cached = store?.get(object.metadata)
      return cached?.metadata.uid === object.metadata.uid ? cached : object
    })
  }

  /** Delivers a random number of watch events of each kind. */
  arriveSome(random: Random): void {
    for (const cache of this.#late.values()) cache.arriveSome(random)
  }

  /** Delivers all watch events. */
  arriveAll(): void {
    for (const cache of this.#late.values()) cache.arriveAll()
  }

  list<T extends KubeObject>({ resource }: Resource<T>): Stored<T>[] {
    return [...this.#kind(resource).values()] as Stored<T>[]
  }

  controlledBy<T extends KubeObject>({ resource }: Resource<T>, uid: string): Stored<T>[] {
    return [...(this.#controlled.get(`${resource} ${uid}`)?.values() ?? [])] as Stored<T>[]
  }

  get<T extends KubeObject>({ resource }: Resource<T>, name: string): Stored<T> | undefined {
    return this.#kind(resource).get(name) as Stored<T> | undefined
  }

  /** Writes of clients other than the operator. */
  put<T extends KubeObject>({ resource }: Resource<T>, object: T): Stored<T> {
    const { metadata } = object
    const name = metadata?.name ?? `${metadata?.generateName}${(++this.#counter).toString(36)}`
    const stored = {
      ...object,
      metadata: {
        generation: 1,
        uid: `uid-${++this.#counter}`,
        creationTimestamp: this.now(),
        ...metadata,
        name,
        resourceVersion: String(++this.#counter),
      },
    } as unknown as Stored<T>
    this.#keep(resource, stored)
    this.#report(resource, { type: 'add', new: stored, old: undefined, source: 'watch' })
    return stored
  }

  modify<T extends KubeObject>(resource: Resource<T>, name: string, patch: object): void {
    const before = this.get(resource, name)
    if (before) this.#replace(resource.resource, before, applyMergePatch(before, patch) as Stored<T>)
  }

  /** Pods terminate gracefully. Dependents are deleted with their owner. */
  remove({ resource }: Resource, object: Stored<KubeObject>): void {
    const kind = this.#kind(resource)
    if (resource === 'pods' && !object.metadata.deletionTimestamp && kind.has(object.metadata.name)) {
      const deletionTimestamp = this.now()
      this.#replace(resource, object, { ...object, metadata: { ...object.metadata, deletionTimestamp } })
      return
    }
    if (kind.get(object.metadata.name)?.metadata.uid === object.metadata.uid) {
      kind.delete(object.metadata.name)
      this.#controlled.get(`${resource} ${byController(object)}`)?.delete(object.metadata.name)
      const resourceVersion = String(++this.#counter)
      const last = { ...object, metadata: { ...object.metadata, resourceVersion } }
      this.#report(resource, { type: 'delete', old: last, new: undefined, source: 'watch' })
    }
    if (!this.collectsGarbage) return
    for (const dependent of dependents)
      for (const child of this.controlledBy(dependent, object.metadata.uid))
        if (!isTerminating(child)) this.remove(dependent, child)
  }

  #replace(resource: string, before: Stored<KubeObject>, after: Stored<KubeObject>): Stored<KubeObject> {
    const spec = (object: KubeObject) => JSON.stringify((object as { spec?: unknown }).spec)
    const bump = resource !== 'pods' && spec(before) !== spec(after) ? 1 : 0
    const metadata = {
      ...after.metadata,
      resourceVersion: String(++this.#counter),
      generation: (before.metadata.generation ?? 1) + bump,
    }
    const stored = { ...after, metadata } as Stored<KubeObject>
    this.#controlled.get(`${resource} ${byController(before)}`)?.delete(before.metadata.name)
    this.#keep(resource, stored)
    this.#report(resource, { type: 'update', old: before, new: stored, source: 'watch' })
    return stored
  }

  #keep(resource: string, object: Stored<KubeObject>): void {
    this.#kind(resource).set(object.metadata.name, object)
    const key = `${resource} ${byController(object)}`
    const controlled = this.#controlled.get(key) ?? new Map<string, Stored<KubeObject>>()
    this.#controlled.set(key, controlled.set(object.metadata.name, object))
  }

  /** Stored objects change at once. Observers are notified when the cache changes. */
  #report(resource: string, change: Change<KubeObject>): void {
    const late = this.#late.get(resource)
    if (!late) this.#notify(resource, change)
    else if (change.type === 'delete') late.happened('DELETED', change.old)
    else late.happened(change.type === 'add' ? 'ADDED' : 'MODIFIED', change.new)
  }

  #notify(resource: string, change: Change<KubeObject>): void {
    for (const observer of this.#observersOf.get(resource) ?? []) observer(change, resource)
    if (resource === resources.pods.resource) return
    for (const observer of this.#observers) observer(change, resource)
  }

  now(): string {
    return `${new Date(this.#clock.now()).toISOString().slice(0, 19)}Z`
  }

  #kind(resource: string): Map<string, Stored<KubeObject>> {
    const known = this.#kinds.get(resource) ?? new Map<string, Stored<KubeObject>>()
    this.#kinds.set(resource, known)
    return known
  }

  #known({ resource }: Resource, { name }: ObjectRef): Stored<KubeObject>[] {
    const object = this.#kind(resource).get(name)
    return object ? [object] : []
  }

  async #write<T>(write: Write, act: () => T): Promise<T> {
    await this.hooks.before(write)
    this.writes++
    const result = act()
    this.hooks.after(write)
    return result
  }

  /** Records the response in the cache, as the operator's client does. */
  async #recorded<T>(
    resource: Resource,
    response: Promise<T>,
    record: (cache: LateCache, result: T) => void,
  ) {
    const result = await response
    const cache = this.#late.get(resource.resource)
    if (cache) record(cache, result)
    return result
  }

  #client() {
    const found = ({ resource }: Resource, { name }: ObjectRef): Stored<KubeObject> => {
      const object = this.#kind(resource).get(name)
      if (!object) throw failure('NotFound', `${resource} ${name}`)
      return object
    }
    return {
      find: async ({ resource }: Resource, { name }: ObjectRef) => this.#kind(resource).get(name),
      list: async (resource: Resource, { labelSelector = '' }: { labelSelector?: string }) => ({
        items: this.list(resource).filter(selected(labelSelector)),
      }),
      create: (resource: Resource, object: KubeObject) =>
        this.#recorded(
          resource,
          this.#write({ verb: 'create', resource: resource.resource, objects: [] }, () => {
            if (object.metadata?.name && this.#kind(resource.resource).has(object.metadata.name))
              throw failure('AlreadyExists', object.metadata.name)
            return this.put(resource, resource.resource === 'pods' ? gatedPod(object as Pod) : object)
          }),
          (cache, stored) => cache.recordWrite(stored),
        ),
      patch: (resource: Resource, ref: ObjectRef, { merge, strategic }: Patch, options: Options = {}) => {
        const patch = merge ?? strategic
        const { uid, resourceVersion: version } = patch?.metadata ?? {}
        const objects = this.#known(resource, ref)
        const response = this.#write(
          { verb: 'patch', resource: resource.resource, objects, patch, uid },
          () => {
            const before = found(resource, ref)
            if (uid && uid !== before.metadata.uid) throw failure('Conflict', ref.name)
            if (version && version !== before.metadata.resourceVersion) throw failure('Conflict', ref.name)
            const after = (
              strategic ? ungated(before as Pod) : applyMergePatch(before, merge)
            ) as Stored<KubeObject>
            const changed = options.subresource
              ? { ...before, status: (after as { status?: unknown }).status }
              : after
            return this.#replace(resource.resource, before, changed as Stored<KubeObject>)
          },
        )
        return this.#recorded(resource, response, (cache, stored) => cache.recordWrite(stored))
      },
      delete: (resource: Resource, ref: ObjectRef, options: Options = {}) => {
        const uid = options.preconditions?.uid
        const objects = this.#known(resource, ref)
        const response = this.#write({ verb: 'delete', resource: resource.resource, objects, uid }, () => {
          const object = found(resource, ref)
          if (uid && uid !== object.metadata.uid) throw failure('Conflict', ref.name)
          this.remove(resource, object)
          return object.metadata.uid
        })
        return this.#recorded(resource, response, (cache, deleted) => {
          const left = this.#kind(resource.resource).get(ref.name)
          if (left?.metadata.uid === deleted) cache.recordWrite(left)
          else cache.recordDeleted(ref, deleted)
        })
      },
      deleteCollection: (resource: Resource, { labelSelector = '' }: { labelSelector?: string }) => {
        const isSelected = selected(labelSelector)
        const objects = this.list(resource).filter(object => !isTerminating(object) && isSelected(object))
        const response = this.#write(
          { verb: 'delete', resource: resource.resource, objects, isCollection: true },
          () => {
            for (const object of objects) this.remove(resource, object)
            return { items: objects }
          },
        )
        return this.#recorded(resource, response, (cache, { items }) => {
          for (const { metadata } of items) cache.recordTerminating(metadata, metadata.uid)
        })
      },
    }
  }

  #cachedView(): View {
    const late = ({ resource }: Resource) => {
      const cache = this.#late.get(resource)
      if (!cache) throw new Error(`the operator has no cache of ${resource}`)
      return cache.store
    }
    const namespace = 'serving'
    return {
      list: resource => [...late(resource as unknown as Resource).values()] as never,
      controlledBy: (resource, uid) =>
        late(resource as unknown as Resource).byIndex('controller', uid) as never,
      get: (resource, name) => late(resource as unknown as Resource).get({ namespace, name }) as never,
    }
  }

  #lateCache(resource: Resource) {
    const late = new LateCache(this.#clock, (index, object) => keyIn(index, object))
    this.#late.set(resource.resource, late)
    late.onChange(change => this.#notify(resource.resource, change))
    return {
      resource,
      get: (ref: ObjectRef) => late.store.get(ref),
      list: () => [...late.store.values()],
      byIndex: (index: Index, key: string) => late.store.byIndex(index, key),
      countByIndex: (index: Index, key: string) => late.store.countByIndex(index, key),
      onChange: (observer: Observer) => this.#observe(resource, observer),
    }
  }

  #observe({ resource }: Resource, observer: Observer): () => void {
    this.#observersOf.set(resource, [...(this.#observersOf.get(resource) ?? []), observer])
    return () => undefined
  }

  #makeCaches(servesOptionalKinds: boolean, isLate: boolean): Caches {
    const indexed = (resource: Resource, index: string, key: string) =>
      index === 'controller'
        ? this.controlledBy(resource, key)
        : index === 'replica'
          ? this.list(resource).filter(object => [byReplica(object)].flat().includes(key))
          : this.list(resource).filter(object => keyIn(index, object) === key)
    const upToDate = (resource: Resource) => ({
      resource,
      get: ({ name }: ObjectRef) => this.get(resource, name),
      list: () => this.list(resource),
      byIndex: (index: string, key: string) => indexed(resource, index, key),
      countByIndex: (index: string, key: string) => indexed(resource, index, key).length,
      onChange: (observer: Observer) => this.#observe(resource, observer),
    })
    const cache = (resource: Resource) => (isLate ? this.#lateCache(resource) : upToDate(resource))
    const pods = cache(resources.pods as unknown as Resource)
    const podGroups = cache(resources.kaiPodGroups as unknown as Resource)
    return {
      client: this.#client(),
      sets: cache(resources.podCliqueSets as unknown as Resource),
      groups: cache(resources.podCliqueScalingGroups as unknown as Resource),
      cliques: cache(resources.podCliques as unknown as Resource),
      gangs: cache(resources.podGangs as unknown as Resource),
      pods,
      services: cache(resources.services as unknown as Resource),
      serviceAccounts: cache(resources.serviceAccounts as unknown as Resource),
      roles: cache(resources.roles as unknown as Resource),
      roleBindings: cache(resources.roleBindings as unknown as Resource),
      computeDomains: cache(resources.computeDomains as unknown as Resource),
      autoscalers: cache(resources.autoscalers as unknown as Resource),
      topologyBindings: cache(resources.clusterTopologyBindings as unknown as Resource),
      ...(servesOptionalKinds && {
        resourceClaims: cache(resources.resourceClaims as unknown as Resource),
        controllerRevisions: cache(resources.controllerRevisions as unknown as Resource),
        schedulerObjects: () => podGroups,
      }),
      optional: { schedulerObjects: servesOptionalKinds ? [podGroups] : [] },
      onChangeOfAny: (observer: Observer) => this.#observers.push(observer),
      podsOf: ({ metadata }: KubeObject) => pods.byIndex('controller', metadata?.uid ?? ''),
    } as unknown as Caches
  }
}

function selected(labelSelector: string): (object: Stored<KubeObject>) => boolean {
  const parsed = parseLabelSelector(labelSelector)
  if (!parsed.ok) throw new Error(parsed.error)
  return ({ metadata }) => matchesLabels(parsed.selector, metadata.labels ?? {})
}

function isTerminating(object: KubeObject): boolean {
  return object.metadata?.deletionTimestamp !== undefined
}

export function failure(code: KubeErrorCode, about: string): KubeError {
  return new KubeError({ code, message: `${code}: ${about}` })
}

function gatedPod(pod: Pod): Pod {
  return {
    ...pod,
    status: {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }],
    },
  }
}

/** The only strategic merge patch that the operator sends. */
function ungated(pod: Pod): Pod {
  const { schedulingGates: _, ...spec } = pod.spec!
  return { ...pod, spec, status: { ...pod.status, conditions: [{ type: 'PodScheduled', status: 'False' }] } }
}

function keyIn(index: string, { metadata }: Stored<KubeObject>): string | undefined {
  const { namespace, labels = {} } = metadata
  const value = labels[index === 'set' ? label.partOf : label.basePodGang]
  return value && `${namespace}/${value}`
}
