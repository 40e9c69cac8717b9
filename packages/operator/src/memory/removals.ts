// SPDX-License-Identifier: Apache-2.0

import type { StoredSet } from '../layout/stored.ts'
import type { SetTable } from './set-table.ts'

type OnEnd = (set: StoredSet, replicas: ReadonlySet<number>) => void

/**
 * Replicas of sets that the operator is deleting, permanently or to recreate them. Deleting thousands of cliques takes
 * seconds and is done by label: it would also delete objects that another controller creates for such a replica
 * meanwhile.
 */
export class RemovalsUnderWay {
  readonly #replicas = new Set<string>()
  /** UIDs of deleted cliques whose pods may not be deleted yet. */
  readonly #podsLeft: SetTable<ReadonlySet<string>>
  readonly #listeners: OnEnd[] = []

  constructor(podsLeft: SetTable<ReadonlySet<string>>) {
    this.#podsLeft = podsLeft
  }

  /** Calls the listener after every removal, successful or not: objects that were held back are reconciled again. */
  onEnd(listener: OnEnd): void {
    this.#listeners.push(listener)
  }

  has(set: StoredSet, replica: number): boolean {
    return this.#replicas.has(idOf(set, replica))
  }

  get size(): number {
    return this.#replicas.size
  }

  /** The same replica is never deleted twice at the same time, because a set has one reconcile at a time. */
  async during<T>(set: StoredSet, replicas: readonly number[], work: () => Promise<T>): Promise<T> {
    const ids = replicas.map(replica => idOf(set, replica))
    for (const id of ids) this.#replicas.add(id)
    try {
      return await work()
    } finally {
      for (const id of ids) this.#replicas.delete(id)
      if (replicas.length > 0) for (const listener of this.#listeners) listener(set, new Set(replicas))
    }
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

function idOf({ metadata: { uid } }: StoredSet, replica: number): string {
  return `${uid}/${replica}`
}
