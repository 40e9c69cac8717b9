// SPDX-License-Identifier: Apache-2.0

// What users read about the update of a set: how it gets on, what it waits for, and when it should have got
// further.
import { type Condition, type ConditionValue, conditionType, updateProgressing } from '@grove/api'
import type { StoredSet } from '../layout/stored.ts'
import { findCondition } from '../state/conditions.ts'
import type { ReplicaUpdateState } from './replica-update.ts'

export interface UpdateConditionInput {
  /** With the progress that is about to be written. */
  readonly set: StoredSet
  readonly updating: readonly ReplicaUpdateState[]
  /** Replicas below the partition that are not of the newest template. */
  readonly held: readonly number[]
  readonly now: string
}

export interface UpdateConditionPlan {
  readonly condition: ConditionValue | undefined
  /** When the update should have got further, milliseconds since the epoch. */
  readonly deadline: number | undefined
}

export function updateCondition({ set, updating, held, now }: UpdateConditionInput): UpdateConditionPlan {
  const before = findCondition(set.status?.conditions, conditionType.updateProgressing)
  const { paused, partition, progressDeadlineSeconds } = set.spec.updateStrategy ?? {}
  const told = (condition: ConditionValue | undefined) => ({ condition, deadline: undefined })
  // Updates from before there was this condition stay without.
  if (set.status?.updateProgress?.updateEndedAt)
    return told(before || updating.length || isJustEnded(set, now) ? updateProgressing.complete : undefined)
  const nameOf = (replica: number) => (replica < (set.spec.replicas ?? 0) ? 'Replica' : 'Surge replica')
  const at = updating
    .map(
      ({ replica, waitsFor, isPlaced }) =>
        `${nameOf(replica)} ${replica}: ${waitsFor ?? (isPlaced ? 'begins' : 'pods of it wait for a place')}`,
    )
    .join('; ')
  if (paused) return told(updateProgressing.paused(`spec.updateStrategy.paused is set${at && `. ${at}`}`))
  if (updating.length === 0)
    return told(
      updateProgressing.partitioned(
        `Replicas ${held.join(', ')} are held back by spec.updateStrategy.partition ${partition}`,
      ),
    )
  const deadline = progressDeadline(set, before, progressDeadlineSeconds, now)
  return deadline !== undefined && deadline <= Date.parse(now)
    ? told(
        updateProgressing.deadlineExceeded(
          `No replica was finished within ${progressDeadlineSeconds}s. ${at}`,
        ),
      )
    : { condition: updateProgressing.replacing(at), deadline }
}

function isJustEnded(set: StoredSet, now: string): boolean {
  return set.status?.updateProgress?.updateEndedAt === now
}

/** The oldest replica under way decides; time that the update stood still does not count. */
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
  const resumed =
    before === undefined || before.status === 'Unknown'
      ? Date.parse(now)
      : before.status === 'True'
        ? Date.parse(before.lastTransitionTime)
        : 0
  return Math.max(Math.min(...begun), resumed) + seconds * 1000
}
