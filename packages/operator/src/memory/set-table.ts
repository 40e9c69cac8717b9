// SPDX-License-Identifier: Apache-2.0

import type { StoredSet } from '../layout/stored.ts'

type Identified = Pick<StoredSet, 'metadata'>

/**
 * At most one entry per PodCliqueSet, by its UID. The entry is dropped with the set. A reconcile that is still
 * running when its set is deleted adds nothing: `isStored` reports whether the watch cache still has the set.
 */
export class SetTable<V> {
  readonly #isStored: (set: Identified) => boolean
  readonly #entries = new Map<string, V>()

  constructor(isStored: (set: Identified) => boolean) {
    this.#isStored = isStored
  }

  get({ metadata: { uid } }: Identified): V | undefined {
    return this.#entries.get(uid)
  }

  /** Returns the value, even if it is not kept. */
  set(set: Identified, value: V): V {
    if (this.#isStored(set)) this.#entries.set(set.metadata.uid, value)
    return value
  }

  getOrAdd(set: Identified, make: () => V): V {
    return this.get(set) ?? this.set(set, make())
  }

  delete({ metadata: { uid } }: Identified): void {
    this.#entries.delete(uid)
  }

  dropSet(uid: string): void {
    this.#entries.delete(uid)
  }

  get size(): number {
    return this.#entries.size
  }
}
