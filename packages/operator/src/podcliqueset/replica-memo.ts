// SPDX-License-Identifier: Apache-2.0

// Remembers what was computed for each replica of a set until one of the objects that it was computed from changes. A set
// is reconciled for every status change of its children, and it may have thousands of replicas.
//
// Bound: one entry per replica that was asked for, and one per child that was read. Entries are dropped with the set, with
// a change of its spec, and with a change of a child.
import type { PodClique, PodCliqueScalingGroup, PodCliqueSet } from '@grove/api'
import type { Change, KubeObject } from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredSet } from '../layout/stored.ts'
import { keepRevision, revisionOf, type SetRevision } from '../revision/set-revision.ts'
import { hasOutdatedPods } from '../update/outdated-pods.ts'
import type { ReplicaChildren } from '../update/replica-state.ts'

type Compute<T> = (set: StoredSet, replica: number, revision: SetRevision, children: ReplicaChildren) => T

interface Entry<T> {
  readonly entries: Map<number, Entry<T>>
  readonly replica: number
  /** Keys under which the entry is found when a child changes. */
  readonly keys: Set<string>
  isDropped: boolean
  value: T
}

interface SetEntries<T> {
  readonly revision: SetRevision
  readonly entries: Map<number, Entry<T>>
}

export class ReplicaMemo<T> {
  readonly #caches: Caches
  readonly #compute: Compute<T>
  /** By UID of the set. */
  readonly #sets = new Map<string, SetEntries<T>>()
  /** By the name of a child that was looked up, or by the UID of the owner of objects that were listed. */
  readonly #readers = new Map<string, Entry<T>>()

  constructor(caches: Caches, compute: Compute<T>) {
    this.#caches = caches
    this.#compute = compute
    caches.sets.onChange(change => this.#setChanged(change))
    caches.cliques.onChange(change => {
      this.#drop(cliqueKey((change.new ?? change.old).metadata))
      this.#dropOwned(change)
    })
    caches.groups.onChange(change => this.#drop(groupKey((change.new ?? change.old).metadata)))
    caches.pods.onChange(change => this.#dropOwned(change))
  }

  of(set: StoredSet, replica: number): T {
    const { entries, revision } = this.#entriesOf(set)
    const known = entries.get(replica)
    if (known) return known.value
    const keys = new Set<string>()
    const entry = { entries, replica, keys, isDropped: false } as Entry<T>
    entry.value = this.#compute(set, replica, revision, this.#childrenOf(set, revision, entry))
    if (!entry.isDropped) entries.set(replica, entry)
    return entry.value
  }

  /** Number of children that entries depend on. */
  get size(): number {
    return this.#readers.size
  }

  #entriesOf(set: StoredSet): SetEntries<T> {
    const { uid } = set.metadata
    const revision = revisionOf(set)
    const known = this.#sets.get(uid)
    if (known?.revision === revision) return known
    this.#forget(uid)
    const fresh = { revision, entries: new Map<number, Entry<T>>() }
    this.#sets.set(uid, fresh)
    return fresh
  }

  /** Lookups that register the entry as a reader of what they return. They must not keep the set: it is replaced often. */
  #childrenOf({ metadata }: StoredSet, revision: SetRevision, entry: Entry<T>): ReplicaChildren {
    const { namespace, uid } = metadata
    const caches = this.#caches
    const read = (key: string) => {
      // A dropped entry may still read, for the caller that has its value.
      if (entry.isDropped) return
      // Names of children of two sets can be equal. Then the entries replace each other.
      if (this.#readers.get(key) !== entry) this.#drop(key)
      entry.keys.add(key)
      this.#readers.set(key, entry)
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
      hasOutdatedPods: clique => {
        read(clique.metadata.uid ?? '')
        return hasOutdatedPods(revision, clique, caches.podsOf(clique))
      },
    }
  }

  #setChanged(change: Change<PodCliqueSet>): void {
    if (change.type === 'delete') this.#forget(change.old.metadata.uid)
    if (change.type === 'update') keepRevision(change.old as StoredSet, change.new as StoredSet)
  }

  #dropOwned(change: Change<KubeObject>): void {
    for (const object of [change.old, change.new]) {
      const owner = object?.metadata.ownerReferences?.find(({ controller }) => controller)?.uid
      if (owner) this.#drop(owner)
    }
  }

  #drop(key: string): void {
    const entry = this.#readers.get(key)
    if (!entry) return
    if (entry.entries.get(entry.replica) === entry) entry.entries.delete(entry.replica)
    this.#forgetReader(entry)
  }

  #forget(uid: string): void {
    for (const entry of this.#sets.get(uid)?.entries.values() ?? []) this.#forgetReader(entry)
    this.#sets.delete(uid)
  }

  #forgetReader(entry: Entry<T>): void {
    entry.isDropped = true
    for (const key of entry.keys) if (this.#readers.get(key) === entry) this.#readers.delete(key)
  }
}

function cliqueKey({ namespace, name }: { readonly namespace?: string; readonly name: string }): string {
  return `PodClique ${namespace}/${name}`
}

function groupKey({ namespace, name }: { readonly namespace?: string; readonly name: string }): string {
  return `PodCliqueScalingGroup ${namespace}/${name}`
}
