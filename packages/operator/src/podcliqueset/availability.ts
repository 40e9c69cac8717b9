// SPDX-License-Identifier: Apache-2.0

import { availability, type ConditionValue } from '@grove/api'
import { replicaCount } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { ReplicaState } from '../update/replica-state.ts'

/**
 * The condition Available of a set. Surge replicas count like the others. If the set is stalled, the message names the
 * cause, otherwise the first object that is not available.
 */
export function availableCondition(
  set: StoredSet,
  /** States of the existing replicas. */
  states: readonly ReplicaState[],
  stalled: ConditionValue | undefined,
): ConditionValue {
  const wanted = set.spec.replicas ?? 0
  if (wanted === 0) return availability.scaledToZero
  const count = replicaCount(set)
  const known = new Map(states.map(state => [state.replica, state]))
  const available = states.filter(({ replica, isAvailable }) => replica < count && isAvailable).length
  if (available >= wanted) return availability.all
  if (stalled) return availability.stalled(stalled)
  let replica = 0
  while (known.get(replica)?.isAvailable) replica++
  const { namespace } = set.metadata
  return availability.unavailable(replica, known.get(replica)?.lacks(), namespace)
}
