// SPDX-License-Identifier: Apache-2.0

import { keyOf, type ObjectKey } from '../layout/object-key.ts'
import type { StoredSet } from '../layout/stored.ts'

/**
 * Replicas of sets that the operator is deleting, for good or to recreate them. Deleting thousands of cliques takes
 * seconds and is done by label: objects that another controller created for such a replica meanwhile would be
 * deleted, too.
 */
export class RemovalsUnderWay {
  readonly #replicas = new Set<string>()
  /** UID of a set → UIDs of its deleted cliques whose pods may not be deleted yet. */
  readonly #podsLeft = new Map<string, Set<string>>()
  readonly #listeners: ((set: ObjectKey, replicas: ReadonlySet<number>) => void)[] = []

  /** Reports every removal that ended, whether it succeeded or not: objects that were held back are reconciled again. */
  onEnd(listener: (set: ObjectKey, replicas: ReadonlySet<number>) => void): void {
    this.#listeners.push(listener)
  }

  has(set: StoredSet, replica: number): boolean {
    return this.#replicas.has(idOf(set, replica))
  }

  /** The same replica is never deleted twice at once: a set has one reconcile at a time. */
  async during<T>(set: StoredSet, replicas: readonly number[], work: () => Promise<T>): Promise<T> {
    const ids = replicas.map(replica => idOf(set, replica))
    for (const id of ids) this.#replicas.add(id)
    try {
      return await work()
    } finally {
      for (const id of ids) this.#replicas.delete(id)
      if (replicas.length > 0) for (const listener of this.#listeners) listener(keyOf(set), new Set(replicas))
    }
  }

  /**
   * Cliques are deleted before their pods. If the request for the pods fails, no object shows any more whose pods they
   * were: these UIDs let the next reconcile of the set repeat it. A process that ends in between leaves the pods to the
   * garbage collector.
   */
  leavePods({ metadata }: StoredSet, cliques: Iterable<string>): void {
    this.#podsLeft.set(metadata.uid, new Set([...this.podsLeft({ metadata }), ...cliques]))
  }

  podsLeft({ metadata }: Pick<StoredSet, 'metadata'>): ReadonlySet<string> {
    return this.#podsLeft.get(metadata.uid) ?? new Set()
  }

  podsRemoved({ metadata: { uid } }: StoredSet, cliques: Iterable<string>): void {
    const left = this.#podsLeft.get(uid)
    for (const clique of cliques) left?.delete(clique)
    if (left?.size === 0) this.#podsLeft.delete(uid)
  }

  forget(setUid: string): void {
    this.#podsLeft.delete(setUid)
  }
}

function idOf(set: StoredSet, replica: number): string {
  return `${keyOf(set)}/${replica}`
}
