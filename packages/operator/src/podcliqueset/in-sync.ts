// SPDX-License-Identifier: Apache-2.0

// Which sets have all their children as they want them. Each replica enqueues its set when it starts or is updated.
// Unless something other than a status changed, the children need not be compared again.
import type { Change, KubeObject } from '@grove/kube'
import { sameMeaning } from '../apply/owned-fields.ts'
import type { Caches } from '../caches/caches.ts'
import { resources } from '../caches/resources.ts'
import { replicaCount } from '../layout/layout.ts'
import { keyOf, type ObjectKey, refOf } from '../layout/object-key.ts'
import type { StoredSet } from '../layout/stored.ts'
import { isUpdating } from '../state/child-state.ts'
import { isEditedOrDeleted, setsOf } from '../triggers/predicates.ts'
import { exemptedReplicas } from '../update/set-progress.ts'

/** The state of a set at its last sync. The same fingerprint again means that there is nothing to sync. */
export interface Fingerprint {
  /** Changes of the set and of what belongs to no set. */
  readonly own: string
  /** Those of its children as well, the number of replicas, and which replicas an update that is held back has reached. */
  readonly all: string
}

export class SetsInSync {
  /** Per set, how often something about it changed that is not a status. */
  readonly #changes = new Map<ObjectKey, number>()
  /** The same about its children. */
  readonly #changesOfChildren = new Map<ObjectKey, number>()
  /** Changes of objects that belong to no set, such as topology bindings. */
  #changesOfAll = 0
  /** UID of a set → the fingerprint at which its children were as wanted. */
  readonly #inSyncAt = new Map<string, Fingerprint>()
  /** UID of a set → the fingerprint at which all of its gangs were looked at. */
  readonly #gangsAt = new Map<string, Fingerprint>()

  constructor(caches: Caches) {
    caches.sets.onChange(change => {
      if (change.type !== 'delete') return
      this.#inSyncAt.delete(change.old.metadata.uid)
      this.#gangsAt.delete(change.old.metadata.uid)
      this.#changes.delete(keyOf(change.old))
      this.#changesOfChildren.delete(keyOf(change.old))
    })
    const ofGangs = new Set(
      [resources.podGangs, resources.kaiPodGroups, resources.volcanoPodGroups].map(nameOf),
    )
    caches.onChangeOfAny((change, resource) => {
      // A gang has its own controller. Only its deletion concerns the set.
      if (isStatusOnly(change) || (ofGangs.has(resource) && change.type !== 'delete')) return
      if (!(change.new ?? change.old).metadata.namespace) this.#changesOfAll++
      else if (resource !== nameOf(resources.podCliqueSets))
        for (const key of setsOf(change)) {
          // Children outlive their set in the caches. Deleted sets are not counted.
          if (caches.sets.get(refOf(key))) count(this.#changesOfChildren, key)
        }
      else if (change.new) count(this.#changes, keyOf(change.new))
    })
  }

  /** The number of sets in the tables. */
  get size(): number {
    return new Set([...this.#changes.keys(), ...this.#changesOfChildren.keys()]).size
  }

  /** To be asked before the children are looked at, and to be given to `recordSync` afterwards. */
  fingerprintOf(set: StoredSet): Fingerprint {
    const key = keyOf(set)
    const own = `${this.#changesOfAll}/${this.#changes.get(key) ?? 0}`
    const update = isUpdating(set) ? `${exemptedReplicas(set).join()} of ${replicaCount(set)}` : 'none'
    return { own, all: `${own}/${this.#changesOfChildren.get(key) ?? 0}/${update}` }
  }

  isInSync({ metadata }: StoredSet, { all }: Fingerprint): boolean {
    return this.#inSyncAt.get(metadata.uid)?.all === all
  }

  recordSync({ metadata }: StoredSet, fingerprint: Fingerprint): void {
    this.#inSyncAt.set(metadata.uid, fingerprint)
  }

  forgetSync({ metadata }: StoredSet): void {
    this.#inSyncAt.delete(metadata.uid)
  }

  /**
   * Reports whether the set itself changed since all of its gangs were enqueued. Other changes enqueue the gangs they
   * concern.
   */
  areGangsDue({ metadata }: StoredSet, { own }: Fingerprint): boolean {
    return this.#gangsAt.get(metadata.uid)?.own !== own
  }

  recordGangs({ metadata }: StoredSet, fingerprint: Fingerprint): void {
    this.#gangsAt.set(metadata.uid, fingerprint)
  }
}

function count(changes: Map<ObjectKey, number>, key: ObjectKey): void {
  changes.set(key, (changes.get(key) ?? 0) + 1)
}

function nameOf({ resource }: { readonly resource: string }): string {
  return resource
}

function isStatusOnly(change: Change<KubeObject>): boolean {
  if (change.type !== 'update') return false
  const before = change.old.metadata
  const after = change.new.metadata
  // Not every kind counts its generations.
  const isSame =
    before.generation === undefined ? !isEditedOrDeleted(change) : before.generation === after.generation
  return (
    isSame &&
    before.deletionTimestamp === after.deletionTimestamp &&
    sameMeaning(before.finalizers, after.finalizers) &&
    sameMeaning(before.labels, after.labels) &&
    sameMeaning(before.annotations, after.annotations)
  )
}
