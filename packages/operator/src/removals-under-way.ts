// SPDX-License-Identifier: Apache-2.0

import { keyOf } from './object-key.ts'
import type { StoredSet } from './stored.ts'

/** What belongs to a replica that is being removed is mostly gone before; should that fail, it is looked at again. */
export const removalAfterMs = 5_000

/**
 * Replicas of sets that are being removed, to stay away or to come anew. Thousands of cliques take seconds to go, and they
 * go by label: what others made for such a replica in the meantime would go with them.
 */
export class RemovalsUnderWay {
  readonly #replicas = new Set<string>()

  has(set: StoredSet, replica: number): boolean {
    return this.#replicas.has(idOf(set, replica))
  }

  /** The same replica is never removed twice at once: one set is looked at by one pass at a time. */
  async during<T>(set: StoredSet, replicas: readonly number[], work: () => Promise<T>): Promise<T> {
    const ids = replicas.map(replica => idOf(set, replica))
    for (const id of ids) this.#replicas.add(id)
    try {
      return await work()
    } finally {
      for (const id of ids) this.#replicas.delete(id)
    }
  }
}

function idOf(set: StoredSet, replica: number): string {
  return `${keyOf(set)}/${replica}`
}
