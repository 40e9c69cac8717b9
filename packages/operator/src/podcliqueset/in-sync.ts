// SPDX-License-Identifier: Apache-2.0

// Records which sets are in sync with their children. Each replica enqueues its set when it starts or is updated. The
// children are compared again only if something other than a status changed.
import type { Change, KubeObject } from '@grove/kube'
import { sameMeaning } from '../apply/owned-fields.ts'
import type { Caches } from '../caches/caches.ts'
import { resources, schedulerObjectKinds } from '../caches/resources.ts'
import { replicaCount } from '../layout/layout.ts'
import { refOf } from '../layout/object-key.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { SyncState } from '../memory/memory.ts'
import type { SetTable } from '../memory/set-table.ts'
import { isUpdating } from '../state/child-state.ts'
import { changesOwner, isEditedOrDeleted, setsOf } from '../triggers/predicates.ts'
import { exemptedReplicas } from '../update/set-progress.ts'

/** The state of a set at its last sync. An equal fingerprint means that there is nothing to sync. */
export interface Fingerprint {
  /** Counts changes of the set and of objects that belong to no set. */
  readonly own: string
  /**
   * Also includes changes of its children, the number of replicas, and the replicas that a held-back update has
   * reached.
   */
  readonly all: string
}

const kindsOfGangs: ReadonlySet<string> = new Set(
  [resources.podGangs, ...schedulerObjectKinds].map(({ resource }) => resource),
)

/** How many changes of a set and its children had arrived when the set was read. */
export interface SeenChanges {
  readonly own: string
  readonly ofChildren: number
}

export class SetsInSync {
  readonly #syncs: SetTable<SyncState>
  /** Changes of objects that belong to no set, such as topology bindings. */
  #changesOfAll = 0

  constructor(caches: Caches, syncs: SetTable<SyncState>) {
    this.#syncs = syncs
    caches.onChangeOfAny((change, resource) => this.#count(change, resource, caches))
  }

  #count(change: Change<KubeObject>, resource: string, caches: Caches): void {
    if (isStatusOnly(change)) return
    // A gang has its own controller. Only its deletion concerns the set.
    if (kindsOfGangs.has(resource) && change.type !== 'delete') return
    if (!(change.new ?? change.old).metadata.namespace) {
      this.#changesOfAll++
      return
    }
    if (resource === resources.podCliqueSets.resource) {
      if (change.new) this.#stateOf(change.new as StoredSet).changes++
      return
    }
    for (const key of setsOf(change)) {
      // Children stay in the caches longer than their set. Changes for deleted sets are not counted.
      const set = caches.sets.get(refOf(key))
      if (set) this.#stateOf(set).changesOfChildren++
    }
  }

  /** Call this when the set is read: a change that arrives later is not part of the sync. */
  changesOf(set: StoredSet): SeenChanges {
    const { changes, changesOfChildren } = this.#stateOf(set)
    return { own: `${this.#changesOfAll}/${changes}`, ofChildren: changesOfChildren }
  }

  /** The fingerprint of a set that was read after these changes. Pass it to `recordSync` after the sync. */
  fingerprintOf(set: StoredSet, { own, ofChildren }: SeenChanges): Fingerprint {
    const update = isUpdating(set) ? `${exemptedReplicas(set).join()} of ${replicaCount(set)}` : 'none'
    return { own, all: `${own}/${ofChildren}/${update}` }
  }

  isInSync(set: StoredSet, { all }: Fingerprint): boolean {
    return this.#stateOf(set).inSyncAt === all
  }

  recordSync(set: StoredSet, { all }: Fingerprint): void {
    this.#stateOf(set).inSyncAt = all
  }

  forgetSync(set: StoredSet): void {
    this.#stateOf(set).inSyncAt = undefined
  }

  /**
   * Reports whether the set itself changed since all of its gangs were enqueued. Other changes enqueue the affected
   * gangs.
   */
  areGangsDue(set: StoredSet, { own }: Fingerprint): boolean {
    return this.#stateOf(set).gangsAt !== own
  }

  recordGangs(set: StoredSet, { own }: Fingerprint): void {
    this.#stateOf(set).gangsAt = own
  }

  #stateOf(set: StoredSet): SyncState {
    return this.#syncs.getOrAdd(set, () => ({ changes: 0, changesOfChildren: 0 }))
  }
}

function isStatusOnly(change: Change<KubeObject>): boolean {
  if (change.type !== 'update') return false
  const before = change.old.metadata
  const after = change.new.metadata
  // Not every kind has a generation.
  const isSame =
    before.generation === undefined ? !isEditedOrDeleted(change) : before.generation === after.generation
  return (
    isSame &&
    !changesOwner(change) &&
    before.deletionTimestamp === after.deletionTimestamp &&
    sameMeaning(before.finalizers, after.finalizers) &&
    sameMeaning(before.labels, after.labels) &&
    sameMeaning(before.annotations, after.annotations)
  )
}
