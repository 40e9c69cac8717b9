// SPDX-License-Identifier: Apache-2.0

// All state of the reconcilers that is neither in the API nor in a watch cache. A new process starts without it. Each entry
// belongs to one object by UID and is dropped with that object; `sizes` lets tests see that. Two holders are elsewhere: the
// measurement of metrics/startup-times.ts, on which no decision depends, and one counter of podcliqueset/in-sync.ts.
//
// Needed for correctness: the API has no place for these facts.
//
// | Name                  | Reason                                                            | Key               | Bound                      | Dropped                         |
// | removals              | no controller recreates a replica while the operator deletes it   | set UID, replica  | replicas being deleted     | when the deletion ends          |
// | groupRemovals         | no pods are created for a group replica while it is deleted       | group UID, replica | replicas being deleted    | when the deletion ends          |
// | podsLeft              | the pods of deleted cliques are deleted although a request failed | set UID           | cliques deleted by the set | when their pods are deleted     |
// | schedulers            | a changed default must not split a gang between two schedulers    | set UID           | one name per set           | with the set                    |
// | terminatingSince      | ComputeDomains are held for a time by the operator's own clock    | set UID           | one time per set           | with the set                    |
// | terminatingNamespaces | nothing is created in a namespace that is being deleted           | set UID           | one mark per set           | with the set                    |
// | gangFailures          | a PodGang status has no field for errors: the set reports them    | set UID, gang     | gangs that fail            | when the gang is written        |
// | incompleteGangs       | grace periods before a gang is created or reported incomplete     | set UID, gang     | incomplete gangs           | when the gang is complete       |
// | tokens                | Secrets are not watched: who waits, when to read, what was read   | set UID           | one record per set         | with the set                    |
// | terminationNotices    | one event per breach, not one per reconcile                       | set UID, replica  | replicas in breach         | when the breach ends            |
// | statusDebounce        | one write for changes that follow each other within moments       | object UID        | statuses that wait         | when written, with the object   |
//
// Derived: computed from the caches and kept because a set has up to thousands of replicas and is reconciled for each
// change of a child. Dropping an entry at any time costs a computation and changes no decision.
//
// | Name                  | Reason                                                            | Key               | Bound                      | Dropped                         |
// | syncs                 | children are compared only after a change that is not a status    | set UID           | one record per set         | with the set                    |
// | replicas              | the state of a replica is computed only after a change of a child | set UID, generation, replica | replicas and children read | with the set or its spec |
//
// Results of pure functions that are kept in a WeakMap for each input object (`revisionOf`) are not state: the garbage
// collector drops them with the object.
import type { Change, Clock, KubeObject } from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import type { GangKey } from '../layout/gang-key.ts'
import type { CliqueKey } from '../layout/object-key.ts'
import type { StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import { ReplicaRemovals, SetReplicaRemovals } from './removals.ts'
import { type Compute, ReplicaMemo } from './replica-memo.ts'
import { SetTable } from './set-table.ts'
import { StatusDebounce } from './status-debounce.ts'

/** The token Secret of a set, as far as the operator has read it. */
export interface TokenState {
  /** UID of the service account for which the Secret was created. */
  account?: string
  /** The last read; monotonic time. */
  read?: { readonly at: number; readonly isFilled: boolean }
  /** When the Secret of a former release was last read; monotonic time. Undefined if there is none. */
  formerCheckedAt?: number | undefined
  wait?: TokenWait | undefined
  /** Requests in flight: cliques read the Secret while the set's own reconcile creates it. */
  reading?: Promise<boolean> | undefined
  providing?: Promise<void> | undefined
}

/** The cliques of one set that wait for its token. Meanwhile only the set's own reconcile reads the Secret. */
export interface TokenWait {
  /** Monotonic, like `nextAt`. */
  readonly since: number
  readonly cliques: Set<CliqueKey>
  delayMs: number
  nextAt: number
}

/** Counters of changes, and their values when a set was last in sync. */
export interface SyncState {
  changes: number
  changesOfChildren: number
  inSyncAt?: string | undefined
  gangsAt?: string | undefined
}

interface Holder {
  readonly size: number
  /** Absent if the owner of an entry always drops it itself. */
  dropSet?(uid: string): void
}

type ObservedCaches = Pick<Caches, 'sets' | 'groups' | 'cliques' | 'gangs' | 'pods' | 'podsOf'>

export class Memory {
  readonly #caches: ObservedCaches
  readonly #holders = new Map<string, Holder>()
  readonly removals: SetReplicaRemovals
  readonly groupRemovals: ReplicaRemovals<StoredScalingGroup>
  readonly schedulers = this.#table<string>('schedulers')
  readonly terminatingSince = this.#table<number>('terminatingSince')
  readonly terminatingNamespaces = this.#table<true>('terminatingNamespaces')
  readonly gangFailures = this.#table<Map<GangKey, unknown>>('gangFailures')
  readonly incompleteGangs = this.#table<Map<GangKey, number>>('incompleteGangs')
  readonly tokens = this.#table<TokenState>('tokens')
  /** Replica → the deadline that an event reported. */
  readonly terminationNotices = this.#table<ReadonlyMap<number, number>>('terminationNotices')
  readonly statusDebounce: StatusDebounce
  readonly syncs = this.#table<SyncState>('syncs')

  constructor(caches: ObservedCaches, clock: Clock) {
    this.#caches = caches
    this.removals = this.#hold(
      'removals',
      new SetReplicaRemovals(this.#table<ReadonlySet<string>>('podsLeft')),
    )
    this.groupRemovals = this.#hold('groupRemovals', new ReplicaRemovals())
    this.statusDebounce = this.#hold('statusDebounce', new StatusDebounce(clock))
    caches.sets.onChange(change => {
      if (change.type === 'delete')
        for (const holder of this.#holders.values()) holder.dropSet?.(change.old.metadata.uid)
    })
    const dropStatus = (change: Change<KubeObject>) => {
      if (change.type === 'delete') this.statusDebounce.clear(change.old.metadata.uid)
    }
    for (const cache of [caches.cliques, caches.groups, caches.gangs]) cache.onChange(dropStatus)
  }

  /** The values of the replicas of all sets. */
  replicas<T>(compute: Compute<T>): ReplicaMemo<T> {
    return this.#hold('replicas', new ReplicaMemo(this.#caches, compute))
  }

  /** The number of entries of each holder. */
  sizes(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#holders].map(([name, { size }]) => [name, size]))
  }

  #table<V>(name: string): SetTable<V> {
    const isStored = ({ metadata }: Pick<StoredSet, 'metadata'>) =>
      this.#caches.sets.get(metadata)?.metadata.uid === metadata.uid
    return this.#hold(name, new SetTable<V>(isStored))
  }

  #hold<H extends Holder>(name: string, holder: H): H {
    this.#holders.set(name, holder)
    return holder
  }
}
