// SPDX-License-Identifier: Apache-2.0

// The condition UpdateProgressing of a set: which replicas are updated, what they wait for, and whether the progress
// deadline has passed.
import { type Condition, type ConditionValue, conditionType, updateProgressing } from '@grove/api'
import type { StoredSet } from '../layout/stored.ts'
import { findCondition } from '../state/conditions.ts'
import type { ReplicaUpdateState } from './replica-state.ts'

export interface UpdateConditionInput {
  /** The set with the progress that is written next. */
  readonly set: StoredSet
  readonly updating: readonly ReplicaUpdateState[]
  /** Replicas below the partition that have an earlier template. */
  readonly held: readonly number[]
  readonly now: string
}

export interface UpdateConditionPlan {
  readonly condition: ConditionValue | undefined
  /** When the progress deadline passes, milliseconds since the epoch. */
  readonly deadline: number | undefined
}

export function updateCondition({ set, updating, held, now }: UpdateConditionInput): UpdateConditionPlan {
  const before = findCondition(set.status?.conditions, conditionType.updateProgressing)
  const { paused, partition, progressDeadlineSeconds } = set.spec.updateStrategy ?? {}
  const without = (condition: ConditionValue | undefined) => ({ condition, deadline: undefined })
  // An update that ended before this condition existed gets none.
  if (set.status?.updateProgress?.updateEndedAt)
    return without(
      before || updating.length || isJustEnded(set, now) ? updateProgressing.complete : undefined,
    )
  const nameOf = (replica: number) => (replica < (set.spec.replicas ?? 0) ? 'Replica' : 'Surge replica')
  const at = updating
    .map(
      ({ replica, waitsFor, isScheduled }) =>
        `${nameOf(replica)} ${replica}: ${waitsFor ?? (isScheduled ? 'begins' : 'pods of it wait for a place')}`,
    )
    .join('; ')
  if (paused) return without(updateProgressing.paused(`spec.updateStrategy.paused is set${at && `. ${at}`}`))
  if (updating.length === 0)
    return without(
      updateProgressing.partitioned(
        `Replicas ${held.join(', ')} are held back by spec.updateStrategy.partition ${partition}`,
      ),
    )
  const deadline = progressDeadline(set, before, progressDeadlineSeconds, now)
  return deadline !== undefined && deadline <= Date.parse(now)
    ? without(
        updateProgressing.deadlineExceeded(
          `No replica was finished within ${progressDeadlineSeconds}s. ${at}`,
        ),
      )
    : { condition: updateProgressing.replacing(at), deadline }
}

function isJustEnded(set: StoredSet, now: string): boolean {
  return set.status?.updateProgress?.updateEndedAt === now
}

/** Starts with the replica that was selected first. The time during which the update was paused does not count. */
function progressDeadline(
  set: StoredSet,
  before: Condition | undefined,
  seconds: number | undefined,
  now: string,
): number | undefined {
  const begun = (set.status?.updateProgress?.currentlyUpdating ?? []).map(({ updateStartedAt }) =>
    Date.parse(updateStartedAt ?? now),
  )
  if (seconds === undefined || begun.length === 0) return undefined
  return Math.max(Math.min(...begun), runningSince(before, now)) + seconds * 1000
}

/** Since when the update has been running without a pause; long ago if the deadline had passed already. */
function runningSince(before: Condition | undefined, now: string): number {
  if (before === undefined || before.status === 'Unknown') return Date.parse(now)
  return before.status === 'True' ? Date.parse(before.lastTransitionTime) : 0
}
