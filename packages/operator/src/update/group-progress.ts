// SPDX-License-Identifier: Apache-2.0

// What a scaling group's status says about its update.
import {
  type ConditionValue,
  label,
  type PodClique,
  type PodCliqueScalingGroupUpdateProgress,
  type ReplicasSelectedToUpdate,
  updateProgressing,
} from '@grove/api'
import { numberLabel } from '../layout/clique-instance.ts'
import type { StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { timestampAt } from '../state/conditions.ts'
import { type GroupUpdatePlan, planGroupUpdate } from './group-update.ts'
import { isOnDelete, isPaused, mayUpdate, stabilizesInMs } from './set-update.ts'

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

const emptyStatus = { scheduledReplicas: 0, availableReplicas: 0, updatedReplicas: 0 }

export interface GroupUpdate {
  readonly plan: GroupUpdatePlan
  readonly progress: PodCliqueScalingGroupUpdateProgress | undefined
}

/** Where the update of a group stands, and what comes next. */
export function groupUpdate(
  set: StoredSet,
  group: StoredScalingGroup,
  cliques: readonly PodClique[],
  hasOutdated: (clique: PodClique) => boolean,
  now: number,
): GroupUpdate {
  const revision = revisionOf(set)
  const before = revision.renamed(group.status?.updateProgress)
  const onDelete = isOnDelete(set)
  const selection = before?.readyReplicaIndicesSelectedToUpdate
  const plan = planGroupUpdate({
    replicas: group.spec.replicas,
    minAvailable: group.spec.minAvailable ?? 1,
    cliqueCount: group.spec.cliqueNames.length,
    cliques,
    revision,
    hasOutdatedPods: hasOutdated,
    selected: onDelete || before?.updateEndedAt ? undefined : selection?.current,
    paused: isPaused(set),
    stabilizesInMs: stabilizesInMs(set, now),
  })
  const progress = groupProgress({
    before,
    generationHash: revision.generationHash,
    unfinished: plan.kind !== 'finished',
    mayUpdate: isOwnTurn(set, group),
    onDelete,
    now: timestampAt(now),
  })
  return { plan, progress }
}

/** A group whose status says where its update stands. */
export function withProgress<T extends StoredScalingGroup>(
  group: T,
  progress: PodCliqueScalingGroupUpdateProgress | undefined,
): T {
  return progress
    ? { ...group, status: { ...emptyStatus, ...group.status, updateProgress: progress } }
    : group
}

export function isOwnTurn(set: StoredSet, group: StoredScalingGroup): boolean {
  const replica = numberLabel(group.metadata.labels, label.setReplicaIndex)
  return replica !== undefined && mayUpdate(set, replica)
}
