// SPDX-License-Identifier: Apache-2.0

// What a clique's status says about its update.
import {
  type ConditionValue,
  label,
  type Pod,
  type PodCliqueStatus,
  type PodCliqueUpdateProgress,
  type PodsSelectedToUpdate,
  updateProgressing,
} from '@grove/api'
import type { CliqueInstance } from '../layout/layout.ts'
import type { StoredClique, StoredSet } from '../layout/stored.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { timestampAt } from '../state/conditions.ts'
import { isActive, isScheduled } from '../state/pod-state.ts'
import { type CliqueUpdatePlan, planCliqueUpdate } from './clique-update.ts'
import { currentHash } from './outdated-pods.ts'
import { isOnDelete, isPaused, mayUpdate, stabilizesInMs } from './set-update.ts'

export interface CliqueProgressInput {
  readonly before: PodCliqueUpdateProgress | undefined
  readonly generationHash: string
  readonly podTemplateHash: string
  /** Some pods are not of the wanted template, or what was taken down is not back. */
  readonly unfinished: boolean
  /** It is this clique's turn. */
  readonly mayUpdate: boolean
  readonly onDelete: boolean
  readonly now: string
}

export function cliqueProgress(input: CliqueProgressInput): PodCliqueUpdateProgress | undefined {
  const { before, generationHash, podTemplateHash, unfinished, now } = input
  const isSameTarget = before?.podTemplateHash === podTemplateHash
  if (input.onDelete) {
    // Nothing is done about it by us: begun and ended in one.
    if (before && (isSameTarget || !unfinished)) return close(before, now)
    return unfinished
      ? {
          updateStartedAt: now,
          updateEndedAt: now,
          podCliqueSetGenerationHash: generationHash,
          podTemplateHash,
        }
      : before
  }
  if (unfinished && input.mayUpdate) {
    if (before && isSameTarget && !before.updateEndedAt) return before
    // What was taken down for an earlier target is not back yet: it counts for this one, too.
    const selection = before?.updateEndedAt ? undefined : before?.readyPodsSelectedToUpdate
    return {
      updateStartedAt: now,
      podCliqueSetGenerationHash: generationHash,
      podTemplateHash,
      ...(selection && { readyPodsSelectedToUpdate: withoutCompleted(selection) }),
    }
  }
  if (!before || unfinished) return before
  // What turned out to be done already is a target all the same: counts in the status are about it.
  return close(
    isSameTarget ? before : { ...before, podCliqueSetGenerationHash: generationHash, podTemplateHash },
    now,
  )
}

/**
 * The selection with the next serving pod. Written before the pod goes: whoever comes after us must know of
 * it.
 */
export function select(
  last: PodsSelectedToUpdate | undefined,
  next: string,
  index: number | undefined,
): PodsSelectedToUpdate {
  const done = [...(last?.completed ?? []), ...(last && last.current !== next ? [last.current] : [])]
  return {
    current: next,
    ...(done.length && { completed: done }),
    ...(index !== undefined && { currentIndex: index }),
  }
}

function withoutCompleted({ completed: _, ...selection }: PodsSelectedToUpdate): PodsSelectedToUpdate {
  return selection
}

function close(progress: PodCliqueUpdateProgress, now: string): PodCliqueUpdateProgress {
  if (progress.updateEndedAt) return progress
  const { readyPodsSelectedToUpdate: _, ...rest } = progress
  return { ...rest, updateEndedAt: now }
}

/** What users read about a running update of pods. */
export function cliqueUpdateCondition(plan: CliqueUpdatePlan): ConditionValue | undefined {
  switch (plan.kind) {
    case 'finished':
      return undefined
    case 'discard':
      return updateProgressing.replacing(`${plan.pods.length} outdated pods that are not ready are replaced`)
    case 'replace':
      return updateProgressing.replacing(`pod ${plan.pod.metadata.name} is replaced`)
    case 'wait':
      return plan.paused
        ? updateProgressing.paused(plan.because)
        : updateProgressing.waiting(`waits: ${plan.because}`)
  }
}

const emptyStatus = { readyReplicas: 0, updatedReplicas: 0, scheduleGatedReplicas: 0, scheduledReplicas: 0 }

export interface CliqueUpdate {
  readonly plan: CliqueUpdatePlan
  readonly progress: PodCliqueUpdateProgress | undefined
}

/** Where the update of a clique stands, and what comes next. */
export function cliqueUpdate(
  set: StoredSet,
  clique: StoredClique,
  instance: CliqueInstance,
  pods: readonly Pod[],
  now: number,
): CliqueUpdate {
  const before = revisionOf(set).renamed(clique.status?.updateProgress, clique)
  const onDelete = isOnDelete(set)
  const { replicas, minAvailable = replicas } = clique.spec
  const plan = planCliqueUpdate({
    replicas,
    minAvailable,
    pods,
    isCurrent: currentHash(set, clique),
    selection: onDelete || before?.updateEndedAt ? undefined : before?.readyPodsSelectedToUpdate,
    paused: isPaused(set),
    stabilizesInMs: stabilizesInMs(set, now),
  })
  const progress = cliqueProgress({
    before,
    generationHash: revisionOf(set).generationHash,
    podTemplateHash: clique.metadata.labels?.[label.podTemplateHash] ?? '',
    unfinished: plan.kind !== 'finished',
    mayUpdate: isOwnUpdate(set, clique, instance),
    onDelete,
    now: timestampAt(now),
  })
  return { plan, progress }
}

/** A clique whose status says where its update stands. */
export function withProgress<T extends StoredClique>(
  clique: T,
  progress: PodCliqueUpdateProgress | undefined,
): T {
  return progress
    ? { ...clique, status: { ...emptyStatus, ...clique.status, updateProgress: progress } }
    : clique
}

/**
 * The status in which pods that the update is about to delete are not scheduled any more. It is written before they are
 * deleted: the next status then does not report them as lost, whichever operator writes it.
 */
export function withoutDeleted<T extends PodCliqueStatus | undefined>(
  status: T,
  pods: readonly Pod[],
  deleted: readonly Pod[],
): T {
  if (!status) return status
  const left = pods.filter(pod => isActive(pod) && isScheduled(pod) && !deleted.includes(pod)).length
  return { ...status, scheduledReplicas: Math.min(status.scheduledReplicas, left) }
}

/** Members of a scaling group are replaced by their group, never pod by pod. */
export function isOwnUpdate(set: StoredSet, clique: StoredClique, instance: CliqueInstance): boolean {
  const revision = revisionOf(set)
  const own = clique.metadata.labels?.[label.podTemplateHash] ?? ''
  // Only when set and clique speak of the same template: between two quick edits one may be ahead of the
  // other.
  return !instance.group && mayUpdate(set, instance.setReplica) && own === revision.hashOf(clique)
}
