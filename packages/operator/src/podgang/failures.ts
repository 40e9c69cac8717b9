// SPDX-License-Identifier: Apache-2.0

import { textOf } from '../errors/coded-error.ts'
import { type GangKey, parseGangKey } from '../layout/gang-key.ts'
import type { ObjectKey } from '../layout/object-key.ts'

/** Why gangs of a set cannot be written. A gang's status has no field for errors, so its set reports them. */
export class GangFailures {
  readonly #bySet = new Map<ObjectKey, Map<GangKey, unknown>>()
  readonly #onChange: (set: ObjectKey) => void

  constructor(onChange: (set: ObjectKey) => void) {
    this.#onChange = onChange
  }

  of(set: ObjectKey): unknown[] {
    return [...(this.#bySet.get(set)?.values() ?? [])]
  }

  /** The same failure again does not enqueue the set. */
  record(gang: GangKey, error: unknown): void {
    const set = setOf(gang)
    const failures = this.#bySet.get(set) ?? new Map<GangKey, unknown>()
    const known = failures.get(gang)
    this.#bySet.set(set, failures.set(gang, error))
    if (known === undefined || textOf(known) !== textOf(error)) this.#onChange(set)
  }

  clear(gang: GangKey): void {
    const set = setOf(gang)
    const failures = this.#bySet.get(set)
    if (!failures?.delete(gang)) return
    if (failures.size === 0) this.#bySet.delete(set)
    this.#onChange(set)
  }
}

function setOf(gang: GangKey): ObjectKey {
  const { namespace, set } = parseGangKey(gang)
  return `${namespace}/${set}`
}
