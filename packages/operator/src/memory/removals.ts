// SPDX-License-Identifier: Apache-2.0

import type { StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import type { SetTable } from './set-table.ts'

type ReplicaOwner = StoredSet | StoredScalingGroup
type OnEnd<Owner> = (owner: Owner, replicas: ReadonlySet<number>) => void

/**
 * Replicas that the operator is deleting, permanently or to recreate them. Deleting thousands of cliques takes seconds
 * and is done by label: it would also delete objects that another controller creates for such a replica meanwhile. The
 * garbage collector deletes the pods of the first cliques before the request for all cliques has its response.
 */
export class ReplicaRemovals<Owner extends ReplicaOwner> {
  readonly #replicas = new Set<string>()
  readonly #listeners: OnEnd<Owner>[] = []

  /** Calls the listener after every removal, successful or not: objects that were held back are reconciled again. */
  onEnd(listener: OnEnd<Owner>): void {
    this.#listeners.push(listener)
  }

  has(owner: Owner, replica: number): boolean {
    return this.#replicas.has(idOf(owner, replica))
  }

  get size(): number {
    return this.#replicas.size
  }

  /** The same replica is never deleted twice at the same time, because its owner has one reconcile at a time. */
  async during<T>(owner: Owner, replicas: readonly number[], work: () => Promise<T>): Promise<T> {
    const ids = replicas.map(replica => idOf(owner, replica))
    for (const id of ids) this.#replicas.add(id)
    try {
      return await work()
    } finally {
      for (const id of ids) this.#replicas.delete(id)
      if (replicas.length > 0) for (const listener of this.#listeners) listener(owner, new Set(replicas))
    }
  }
}

/** The replicas of sets. */
export class SetReplicaRemovals extends ReplicaRemovals<StoredSet> {
  /** UIDs of deleted cliques whose pods may not be deleted yet. */
  readonly #podsLeft: SetTable<ReadonlySet<string>>

  constructor(podsLeft: SetTable<ReadonlySet<string>>) {
    super()
    this.#podsLeft = podsLeft
  }

  /**
   * Cliques are deleted before their pods. If the request for the pods fails, no object shows any more to which clique
   * they belonged. With these UIDs the next reconcile of the set repeats the request. If the process ends in between,
   * the garbage collector deletes the pods.
   */
  leavePods(set: StoredSet, cliques: Iterable<string>): void {
    this.#podsLeft.set(set, new Set([...this.podsLeft(set), ...cliques]))
  }

  podsLeft(set: StoredSet): ReadonlySet<string> {
    return this.#podsLeft.get(set) ?? new Set()
  }

  podsRemoved(set: StoredSet, cliques: Iterable<string>): void {
    const left = new Set(this.podsLeft(set))
    for (const clique of cliques) left.delete(clique)
    if (left.size > 0) this.#podsLeft.set(set, left)
    else this.#podsLeft.delete(set)
  }
}

function idOf({ metadata: { uid } }: ReplicaOwner, replica: number): string {
  return `${uid}/${replica}`
}
