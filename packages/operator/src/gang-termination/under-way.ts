// SPDX-License-Identifier: Apache-2.0

import { keyOf } from '../object-key.ts'
import type { StoredSet } from '../stored.ts'

/**
 * Replicas that are being taken down. Thousands of cliques take seconds to go, and the requests go by label: whatever
 * were made again in the meantime would be hit by the next of them.
 */
export class TerminationsUnderWay {
  readonly #replicas = new Set<string>()

  has(set: StoredSet, replica: number): boolean {
    return this.#replicas.has(idOf(set, replica))
  }

  async during(set: StoredSet, replica: number, work: () => Promise<void>): Promise<void> {
    const id = idOf(set, replica)
    this.#replicas.add(id)
    try {
      await work()
    } finally {
      this.#replicas.delete(id)
    }
  }
}

function idOf(set: StoredSet, replica: number): string {
  return `${keyOf(set)}/${replica}`
}
