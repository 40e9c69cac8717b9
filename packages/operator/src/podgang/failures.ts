// SPDX-License-Identifier: Apache-2.0

import { messageOf } from '@grove/kube'
import type { GangKey } from '../layout/gang-key.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { Memory } from '../memory/memory.ts'

/** Records a failure. Returns whether it is new for the set: a repeated failure does not enqueue the set. */
export function recordFailure(
  set: StoredSet,
  gang: GangKey,
  error: unknown,
  { gangFailures }: Memory,
): boolean {
  const failures = gangFailures.getOrAdd(set, () => new Map())
  const known = failures.get(gang)
  failures.set(gang, error)
  return known === undefined || messageOf(known) !== messageOf(error)
}

/** Clears the failure. Returns whether there was one. */
export function clearFailure(set: StoredSet, gang: GangKey, { gangFailures }: Memory): boolean {
  const failures = gangFailures.get(set)
  if (!failures?.delete(gang)) return false
  if (failures.size === 0) gangFailures.delete(set)
  return true
}
