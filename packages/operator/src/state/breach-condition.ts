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
  type PodCliqueScalingGroup,
} from '@grove/api'
import type { KubeObject } from '@grove/kube'
import { firstConditionWithinMs } from '../timings/timings.ts'
import { findCondition, noOlderThan, notInFuture } from './conditions.ts'

/** The policy for a clique that was scheduled once and has lost every pod. */
export type OnTotalLoss = 'Wait' | 'Recreate'

// This operator records in a condition that a clique was scheduled or a group was healthy. Statuses of the Go operator do
// not have it. There, a condition that changed later than shortly after the creation is proof.

/** Reports whether minAvailable pods of the clique were ever scheduled. */
export function wasScheduled(clique: PodClique): boolean {
  const { conditions, currentPodTemplateHash } = clique.status ?? {}
  if (findCondition(conditions, conditionType.everScheduled)?.status === 'True') return true
  const scheduled = findCondition(conditions, conditionType.podCliqueScheduled)
  if (!scheduled) return false
  if (scheduled.status === 'True') return true
  // The label is rewritten before the status.
  const isTakenOver =
    isLegacy(clique.metadata.labels?.[label.podTemplateHash]) || isLegacy(currentPodTemplateHash)
  return isTakenOver && hasChangedSinceStart(clique, scheduled)
}

/** Reports whether minAvailable replicas of the group were ever healthy. */
export function wasHealthy(group: PodCliqueScalingGroup): boolean {
  const { conditions, currentPodCliqueSetGenerationHash } = group.status ?? {}
  if (findCondition(conditions, conditionType.everHealthy)) return true
  const breach = findCondition(conditions, conditionType.minAvailableBreached)
  if (!breach || !isLegacy(currentPodCliqueSetGenerationHash)) return false
  return breach.status === 'False' || hasChangedSinceStart(group, breach)
}

function isLegacy(hash: string | undefined): boolean {
  return hash !== undefined && hashAlgorithmOf(hash) === 'legacy'
}

function hasChangedSinceStart({ metadata }: KubeObject, { lastTransitionTime }: Condition): boolean {
  const created = Date.parse(metadata?.creationTimestamp ?? '')
  return Date.parse(lastTransitionTime) > created + firstConditionWithinMs
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
