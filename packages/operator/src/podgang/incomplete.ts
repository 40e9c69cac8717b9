// SPDX-License-Identifier: Apache-2.0

// Records since when a gang is incomplete. Most gangs are complete again within moments, and are not reported before.
import type { GangKey } from '../layout/gang-key.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'

type Context = Pick<OperatorContext, 'clock' | 'memory'>

/** Milliseconds since the gang was first incomplete, or since that was last reported; 0 for a complete gang. */
export function incompleteFor(
  set: StoredSet,
  gang: GangKey,
  isComplete: boolean,
  { clock, memory }: Context,
): number {
  if (isComplete) {
    forgetIncomplete(set, gang, { memory })
    return 0
  }
  const now = clock.monotonic()
  const since = memory.incompleteGangs.get(set)?.get(gang) ?? now
  memory.incompleteGangs.getOrAdd(set, () => new Map()).set(gang, since)
  return now - since
}

/** Call this when an incomplete gang was reported. The next report waits again. */
export function reportedIncomplete(set: StoredSet, gang: GangKey, { clock, memory }: Context): void {
  memory.incompleteGangs.getOrAdd(set, () => new Map()).set(gang, clock.monotonic())
}

export function forgetIncomplete(set: StoredSet, gang: GangKey, { memory }: Pick<Context, 'memory'>): void {
  const gangs = memory.incompleteGangs.get(set)
  if (gangs?.delete(gang) && gangs.size === 0) memory.incompleteGangs.delete(set)
}
