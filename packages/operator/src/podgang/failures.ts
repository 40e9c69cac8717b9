// SPDX-License-Identifier: Apache-2.0

import { textOf } from '../errors/coded-error.ts'
import type { GangKey } from '../layout/gang-key.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { Memory } from '../memory/memory.ts'

/** Reports whether a failure is new for the set. The same failure again does not enqueue the set. */
export function recordFailure(
  set: StoredSet,
  gang: GangKey,
  error: unknown,
  { gangFailures }: Memory,
): boolean {
  const failures = gangFailures.getOrAdd(set, () => new Map())
  const known = failures.get(gang)
  failures.set(gang, error)
  return known === undefined || textOf(known) !== textOf(error)
}

/** Reports whether there was a failure. */
export function clearFailure(set: StoredSet, gang: GangKey, { gangFailures }: Memory): boolean {
  const failures = gangFailures.get(set)
  if (!failures?.delete(gang)) return false
  if (failures.size === 0) gangFailures.delete(set)
  return true
}
