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

/** Reports whether the clique ever had its minimum scheduled. */
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

/** Of cliques and scaling groups alike: what it means that nothing of them is scheduled. */
export function nothingScheduled(given: {
  readonly of: BreachedKind
  readonly wasScheduled: boolean
  readonly wanted: number
  readonly minAvailable: number
  readonly onTotalLoss: OnTotalLoss
}): ConditionValue {
  const { of, wasScheduled, wanted, minAvailable, onTotalLoss } = given
  // A user who scales to zero loses nothing, whatever follows from a loss.
  if (wanted === 0) return minAvailableBreached.scaledToZero(of)
  if (wasScheduled && onTotalLoss === 'Recreate' && minAvailable > 0)
    return minAvailableBreached.scheduledBelowMinimum(0, minAvailable)
  return wasScheduled ? minAvailableBreached.allLost(of) : minAvailableBreached.neverScheduled(of)
}

/**
 * The list in which a breach is no older than what causes it, and has not begun in the future. A cause that lies in the
 * future was stamped by a clock that is ahead, so it says nothing.
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
