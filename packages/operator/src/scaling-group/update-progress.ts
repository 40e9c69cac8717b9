// SPDX-License-Identifier: Apache-2.0

// What a scaling group's status says about its update.
import {
  type ConditionValue,
  type PodCliqueScalingGroupUpdateProgress,
  type ReplicasSelectedToUpdate,
  updateProgressing,
} from '@grove/api'
import type { GroupUpdatePlan } from './update.ts'

export interface GroupProgressInput {
  readonly before: PodCliqueScalingGroupUpdateProgress | undefined
  readonly generationHash: string
  /** Some replica is not of the wanted revision, or what was taken down is not back. */
  readonly unfinished: boolean
  readonly mayUpdate: boolean
  readonly onDelete: boolean
  readonly now: string
}

export function groupProgress(input: GroupProgressInput): PodCliqueScalingGroupUpdateProgress | undefined {
  const { before, generationHash, unfinished, now } = input
  const isSameTarget = before?.podCliqueSetGenerationHash === generationHash
  if (input.onDelete) {
    if (before && (isSameTarget || !unfinished)) return close(before, now)
    return unfinished
      ? { updateStartedAt: now, updateEndedAt: now, podCliqueSetGenerationHash: generationHash }
      : before
  }
  if (unfinished && input.mayUpdate) {
    if (before && isSameTarget && !before.updateEndedAt) return before
    // What was taken down for an earlier target is not back yet: it counts for this one, too.
    const selection = before?.updateEndedAt ? undefined : before?.readyReplicaIndicesSelectedToUpdate
    return {
      updateStartedAt: now,
      podCliqueSetGenerationHash: generationHash,
      ...(selection && { readyReplicaIndicesSelectedToUpdate: { current: selection.current } }),
    }
  }
  if (!before || unfinished) return before
  // What turned out to be done already is a target all the same.
  return close(isSameTarget ? before : { ...before, podCliqueSetGenerationHash: generationHash }, now)
}

/**
 * The selection with the next serving replica. Written before it goes: whoever comes after us must know of
 * it.
 */
export function selectReplica(
  last: ReplicasSelectedToUpdate | undefined,
  next: number,
): ReplicasSelectedToUpdate {
  const done = [...(last?.completed ?? []), ...(last && last.current !== next ? [last.current] : [])]
  return { current: next, ...(done.length && { completed: done }) }
}

/** What users read about a running update of replicas. */
export function groupUpdateCondition(plan: GroupUpdatePlan): ConditionValue | undefined {
  switch (plan.kind) {
    case 'finished':
      return undefined
    case 'discard':
      return updateProgressing.replacing(`replicas ${plan.replicas.join(', ')} are replaced`)
    case 'replace':
      return updateProgressing.replacing(`replica ${plan.replica} is replaced`)
    case 'wait':
      return plan.paused
        ? updateProgressing.paused(plan.because)
        : updateProgressing.waiting(`waits: ${plan.because}`)
  }
}

function close(
  progress: PodCliqueScalingGroupUpdateProgress,
  now: string,
): PodCliqueScalingGroupUpdateProgress {
  if (progress.updateEndedAt) return progress
  const { readyReplicaIndicesSelectedToUpdate: _, ...rest } = progress
  return { ...rest, updateEndedAt: now }
}
