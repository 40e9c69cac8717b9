// SPDX-License-Identifier: Apache-2.0

// What a clique's status says about its update.
import type { Pod, PodCliqueUpdateProgress } from '@grove/api'

export interface CliqueProgressInput {
  readonly before: PodCliqueUpdateProgress | undefined
  readonly generationHash: string
  readonly podTemplateHash: string
  /** Some pods are not of the wanted template. */
  readonly outdated: boolean
  /** It is this clique's turn. */
  readonly mayUpdate: boolean
  readonly onDelete: boolean
  /** Serving pods that this pass told to go. */
  readonly replaced: readonly Pod[]
  readonly now: string
}

export function cliqueProgress(input: CliqueProgressInput): PodCliqueUpdateProgress | undefined {
  const { before, generationHash, podTemplateHash, outdated, now } = input
  const isSameTarget = before?.podTemplateHash === podTemplateHash
  if (input.onDelete) {
    // Nothing is done about it by us: begun and ended in one.
    if (before && (isSameTarget || !outdated)) return close(before, now)
    return outdated
      ? {
          updateStartedAt: now,
          updateEndedAt: now,
          podCliqueSetGenerationHash: generationHash,
          podTemplateHash,
        }
      : before
  }
  if (outdated && input.mayUpdate) {
    const running =
      before && isSameTarget && !before.updateEndedAt
        ? before
        : { updateStartedAt: now, podCliqueSetGenerationHash: generationHash, podTemplateHash }
    return withSelection(running, input.replaced)
  }
  return before && !outdated ? close(before, now) : before
}

function withSelection(progress: PodCliqueUpdateProgress, replaced: readonly Pod[]): PodCliqueUpdateProgress {
  const next = replaced[0]?.metadata.name
  if (next === undefined) return progress
  const last = progress.readyPodsSelectedToUpdate
  const completed = [...(last?.completed ?? []), ...(last ? [last.current] : [])]
  return {
    ...progress,
    readyPodsSelectedToUpdate: { current: next, ...(completed.length && { completed }) },
  }
}

function close(progress: PodCliqueUpdateProgress, now: string): PodCliqueUpdateProgress {
  if (progress.updateEndedAt) return progress
  const { readyPodsSelectedToUpdate: _, ...rest } = progress
  return { ...rest, updateEndedAt: now }
}
