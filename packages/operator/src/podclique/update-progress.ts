// SPDX-License-Identifier: Apache-2.0

// What a clique's status says about its update.
import {
  type ConditionValue,
  type PodCliqueUpdateProgress,
  type PodsSelectedToUpdate,
  updateProgressing,
} from '@grove/api'
import type { CliqueUpdatePlan } from './update.ts'

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
