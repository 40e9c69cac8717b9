// SPDX-License-Identifier: Apache-2.0

// Remembers what was computed for each replica of a set until one of the objects that it was computed from changes. A
// set is reconciled for every status change of its children, and it may have thousands of replicas.
//
// Bound: one value per replica that was asked for, and one key per child that was read. Both are dropped with the set
// and with a change of its spec.
import type { PodClique, PodCliqueScalingGroup, PodGang } from '@grove/api'
import type { Change, KubeObject } from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredPod, StoredSet } from '../layout/stored.ts'

/** Lookups of children that the set controls and that are not terminating. Records each lookup as an input. */
export interface ReadChildren {
  cliqueNamed(name: string): PodClique | undefined
  groupNamed(name: string): PodCliqueScalingGroup | undefined
  membersOf(group: PodCliqueScalingGroup): readonly PodClique[]
  podsOf(clique: PodClique): readonly StoredPod[]
  /** The gang may be terminating. */
  gangNamed(name: string): PodGang | undefined
}

/**
 * The value may keep the lookups and use them later. It must not keep the set, because status writes replace it often.
 */
export type Compute<T> = (set: StoredSet, replica: number, children: ReadChildren) => T

type ReadCaches = Pick<Caches, 'groups' | 'cliques' | 'gangs' | 'pods' | 'podsOf'>

/** The inputs of one replica. */
interface Reader {
  readonly of: { readonly stale: Set<number> }
  readonly replica: number
  /** The keys under which a change of a child finds the reader. */
  readonly keys: Set<string>
  isDropped: boolean
}

interface SetValues<T> {
  readonly generation: string
  /** By replica. */
  readonly values: T[]
  readonly readers: (Reader | undefined)[]
  /** Replicas whose values have to be computed again. */
  readonly stale: Set<number>
}

export class ReplicaMemo<T> {
  readonly #caches: ReadCaches
  readonly #compute: Compute<T>
  /** By UID of the set. */
  readonly #sets = new Map<string, SetValues<T>>()
  /** Key: the name of a child that was looked up, or the UID of the owner of listed objects. */
  readonly #readers = new Map<string, Reader>()

  constructor(caches: ReadCaches, compute: Compute<T>) {
    this.#caches = caches
    this.#compute = compute
    caches.cliques.onChange(change => {
      this.#drop(cliqueKey((change.new ?? change.old).metadata))
      this.#dropOwned(change)
    })
    caches.groups.onChange(change => this.#drop(groupKey((change.new ?? change.old).metadata)))
    caches.gangs.onChange(change => this.#drop(gangKey((change.new ?? change.old).metadata)))
    caches.pods.onChange(change => this.#dropOwned(change))
  }

  /**
   * The values of the first `count` replicas. Computes those that are new or stale. The caller must not keep the
   * list.
   */
  all(set: StoredSet, count: number): readonly T[] {
    const of = this.#valuesOf(set)
    for (const replica of of.stale) if (replica < count) this.#update(set, replica, of)
    for (let replica = of.values.length; replica < count; replica++) this.#update(set, replica, of)
    return of.values.length === count ? of.values : of.values.slice(0, count)
  }

  /** Computes the value of one replica without remembering it. */
  once(set: StoredSet, replica: number): T {
    const reader: Reader = { of: { stale: new Set() }, replica, keys: new Set(), isDropped: true }
    return this.#compute(set, replica, this.#childrenOf(set, reader))
  }

  /** The number of children that values depend on. */
  get size(): number {
    return this.#readers.size
  }

  #valuesOf(set: StoredSet): SetValues<T> {
    const { uid } = set.metadata
    const generation = generationOf(set)
    const known = this.#sets.get(uid)
    if (known?.generation === generation) return known
    this.dropSet(uid)
    const fresh: SetValues<T> = { generation, values: [], readers: [], stale: new Set() }
    this.#sets.set(uid, fresh)
    return fresh
  }

  #update(set: StoredSet, replica: number, of: SetValues<T>): void {
    const reader: Reader = { of, replica, keys: new Set(), isDropped: false }
    of.stale.delete(replica)
    of.readers[replica] = reader
    of.values[replica] = this.#compute(set, replica, this.#childrenOf(set, reader))
  }

  /** Returns lookups that register their reader for each object that they return. */
  #childrenOf({ metadata }: StoredSet, reader: Reader): ReadChildren {
    const { namespace, uid } = metadata
    const caches = this.#caches
    const read = (key: string) => {
      // A caller may still hold a stale value.
      if (reader.isDropped) return
      // Children of two sets can have equal names. Then the readers replace each other.
      if (this.#readers.get(key) !== reader) this.#drop(key)
      reader.keys.add(key)
      this.#readers.set(key, reader)
    }
    const live = <O extends PodClique | PodCliqueScalingGroup>(object: O | undefined) =>
      object && !object.metadata.deletionTimestamp && isControlledBy(object, uid) ? object : undefined
    return {
      cliqueNamed: name => {
        read(cliqueKey({ namespace, name }))
        return live(caches.cliques.get({ namespace, name }))
      },
      groupNamed: name => {
        read(groupKey({ namespace, name }))
        return live(caches.groups.get({ namespace, name }))
      },
      membersOf: group => {
        const owner = group.metadata.uid ?? ''
        read(owner)
        return caches.cliques.byIndex('controller', owner).filter(one => !one.metadata.deletionTimestamp)
      },
      podsOf: clique => {
        read(clique.metadata.uid ?? '')
        return caches.podsOf(clique)
      },
      gangNamed: name => {
        read(gangKey({ namespace, name }))
        const gang = caches.gangs.get({ namespace, name })
        return gang && isControlledBy(gang, uid) ? gang : undefined
      },
    }
  }

  #dropOwned(change: Change<KubeObject>): void {
    for (const object of [change.old, change.new]) {
      const owner = object?.metadata.ownerReferences?.find(({ controller }) => controller)?.uid
      if (owner) this.#drop(owner)
    }
  }

  #drop(key: string): void {
    const reader = this.#readers.get(key)
    if (!reader) return
    reader.of.stale.add(reader.replica)
    this.#forgetReader(reader)
  }

  dropSet(uid: string): void {
    for (const reader of this.#sets.get(uid)?.readers ?? []) if (reader) this.#forgetReader(reader)
    this.#sets.delete(uid)
  }

  #forgetReader(reader: Reader): void {
    reader.isDropped = true
    for (const key of reader.keys) if (this.#readers.get(key) === reader) this.#readers.delete(key)
  }
}

/** A generation identifies a spec. Kinds without a generation use the resource version instead. */
function generationOf({ metadata: { generation, resourceVersion } }: StoredSet): string {
  return generation === undefined ? `version ${resourceVersion}` : String(generation)
}

function cliqueKey({ namespace, name }: { readonly namespace?: string; readonly name: string }): string {
  return `PodClique ${namespace}/${name}`
}

function groupKey({ namespace, name }: { readonly namespace?: string; readonly name: string }): string {
  return `PodCliqueScalingGroup ${namespace}/${name}`
}

function gangKey({ namespace, name }: { readonly namespace?: string; readonly name: string }): string {
  return `PodGang ${namespace}/${name}`
}
