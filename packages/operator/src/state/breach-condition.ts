// SPDX-License-Identifier: Apache-2.0

// The parts of the condition MinAvailableBreached that cliques and scaling groups share.
import {
  type BreachedKind,
  type Condition,
  type ConditionValue,
  conditionType,
  hashAlgorithmOf,
  label,
  minAvailableBreached,
  type PodClique,
} from '@grove/api'
import { firstConditionWithinMs } from '../timings/timings.ts'
import { findCondition, noOlderThan, notInFuture } from './conditions.ts'

/** The policy for a clique that was scheduled once and has lost every pod. */
export type OnTotalLoss = 'Wait' | 'Recreate'

/** Reports whether minAvailable pods of the clique were ever scheduled. */
export function wasScheduled(clique: PodClique): boolean {
  const { conditions } = clique.status ?? {}
  if (findCondition(conditions, conditionType.everScheduled)?.status === 'True') return true
  const scheduled = findCondition(conditions, conditionType.podCliqueScheduled)
  if (!scheduled) return false
  if (scheduled.status === 'True') return true
  // This operator records the fact in a condition. Statuses of an earlier operator do not have it.
  const isTakenOver = hashAlgorithmOf(clique.metadata.labels?.[label.podTemplateHash] ?? '') === 'legacy'
  const created = Date.parse(clique.metadata.creationTimestamp ?? '')
  return isTakenOver && Date.parse(scheduled.lastTransitionTime) > created + firstConditionWithinMs
}

/** For cliques and scaling groups: the condition if nothing is scheduled. */
export function nothingScheduled(given: {
  readonly of: BreachedKind
  readonly wasScheduled: boolean
  readonly wanted: number
  readonly minAvailable: number
  readonly onTotalLoss: OnTotalLoss
}): ConditionValue {
  const { of, wasScheduled, wanted, minAvailable, onTotalLoss } = given
  // Scaling to zero is not a loss, whatever the policy for losses is.
  if (wanted === 0) return minAvailableBreached.scaledToZero(of)
  if (wasScheduled && onTotalLoss === 'Recreate' && minAvailable > 0)
    return minAvailableBreached.scheduledBelowMinimum(0, minAvailable)
  return wasScheduled ? minAvailableBreached.allLost(of) : minAvailableBreached.neverScheduled(of)
}

/**
 * Limits the start of a breach: it is no older than its cause, and not in the future. A cause in the future was written
 * by a clock that is ahead, and is ignored.
 */
export function timedBreach(
  conditions: readonly Condition[],
  causedAt: number,
  now: string,
): readonly Condition[] {
  const type = conditionType.minAvailableBreached
  const timed = causedAt > Date.parse(now) ? conditions : noOlderThan(conditions, type, causedAt)
  return notInFuture(timed, type, now)
}
