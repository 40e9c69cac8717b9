// SPDX-License-Identifier: Apache-2.0

// What a scaling group's status says about its update.
import type { PodCliqueScalingGroupUpdateProgress } from '@grove/api'

export interface GroupProgressInput {
  readonly before: PodCliqueScalingGroupUpdateProgress | undefined
  readonly generationHash: string
  /** Some replica is not of the wanted revision. */
  readonly outdated: boolean
  readonly mayUpdate: boolean
  readonly onDelete: boolean
  /** Serving replicas that this pass told to go. */
  readonly replaced: readonly number[]
  readonly now: string
}

export function groupProgress(input: GroupProgressInput): PodCliqueScalingGroupUpdateProgress | undefined {
  const { before, generationHash, outdated, now } = input
  const isSameTarget = before?.podCliqueSetGenerationHash === generationHash
  if (input.onDelete) {
    if (before && (isSameTarget || !outdated)) return close(before, now)
    return outdated
      ? { updateStartedAt: now, updateEndedAt: now, podCliqueSetGenerationHash: generationHash }
      : before
  }
  if (outdated && input.mayUpdate) {
    const running =
      before && isSameTarget && !before.updateEndedAt
        ? before
        : { updateStartedAt: now, podCliqueSetGenerationHash: generationHash }
    return withSelection(running, input.replaced)
  }
  return before && !outdated ? close(before, now) : before
}

function withSelection(
  progress: PodCliqueScalingGroupUpdateProgress,
  replaced: readonly number[],
): PodCliqueScalingGroupUpdateProgress {
  const next = replaced[0]
  if (next === undefined) return progress
  const last = progress.readyReplicaIndicesSelectedToUpdate
  const completed = [...(last?.completed ?? []), ...(last ? [last.current] : [])]
  return {
    ...progress,
    readyReplicaIndicesSelectedToUpdate: { current: next, ...(completed.length && { completed }) },
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
