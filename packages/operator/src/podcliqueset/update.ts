// SPDX-License-Identifier: Apache-2.0

// How a set moves to a new revision: one replica at a time, and what its status says about it.
import type {
  PodClique,
  PodCliqueScalingGroup,
  PodCliqueSetStatus,
  PodCliqueSetUpdateProgress,
} from '@grove/api'
import { range, scalingGroups, standaloneCliques } from '../layout.ts'
import { isConverged } from '../revision.ts'
import { revisionOf, type SetRevision } from '../revision-of-set.ts'
import type { StoredSet } from '../stored.ts'

/** The status with which a set begins a pass: a new revision starts an update, a known one leaves it alone. */
export function statusForRevision(
  set: StoredSet,
  { generationHash }: Pick<SetRevision, 'generationHash'>,
  isCurrentGeneration: (stored: string) => boolean,
  now: string,
): PodCliqueSetStatus | undefined {
  const before = set.status
  const stored = before?.currentGenerationHash
  const onDelete = set.spec.updateStrategy?.type === 'OnDelete'
  if (stored === generationHash) {
    // The strategy was changed in the middle of an update: it is not ours to finish any more.
    return onDelete && isUpdatingSet(set)
      ? { ...before!, updateProgress: ended(before!.updateProgress!, now) }
      : undefined
  }
  const status: PodCliqueSetStatus = {
    ...(before ?? { availableReplicas: 0, updatedReplicas: 0 }),
    currentGenerationHash: generationHash,
  }
  if (stored === undefined || isCurrentGeneration(stored)) return status
  return {
    ...status,
    updatedReplicas: 0,
    updateProgress: {
      updateStartedAt: now,
      ...(onDelete && { updateEndedAt: now }),
      // A replica that is half-way stays the one that is disturbed.
      ...(!onDelete && before?.updateProgress?.currentlyUpdating && isUpdatingSet(set)
        ? { currentlyUpdating: before.updateProgress.currentlyUpdating }
        : {}),
    },
  }
}

export function isUpdatingSet(set: StoredSet): boolean {
  const progress = set.status?.updateProgress
  return progress !== undefined && progress.updateEndedAt === undefined
}

/** The replica whose children may replace pods now. */
export function updatingReplica(set: StoredSet): number | undefined {
  return set.status?.updateProgress?.currentlyUpdating?.[0]?.replicaIndex
}

/** Whether it is the turn of this replica's children to replace what is outdated. */
export function mayUpdate(set: StoredSet, replica: number): boolean {
  return (
    set.spec.updateStrategy?.type !== 'OnDelete' &&
    isUpdatingSet(set) &&
    updatingReplica(set) === replica &&
    // Between an edit and its announcement the progress is that of another revision.
    set.status?.currentGenerationHash === revisionOf(set).generationHash
  )
}

export interface SetUpdateInput {
  readonly set: StoredSet
  readonly revision: SetRevision
  cliqueNamed(name: string): PodClique | undefined
  groupNamed(name: string): PodCliqueScalingGroup | undefined
  readonly now: string
}

/** The next state of a running update; undefined when it stays as it is. */
export function planSetUpdate(input: SetUpdateInput): PodCliqueSetUpdateProgress | undefined {
  const { set, now } = input
  if (set.spec.updateStrategy?.type === 'OnDelete' || !isUpdatingSet(set)) return undefined
  const progress = set.status!.updateProgress!
  const replicas = range(0, set.spec.replicas ?? 0)
  const current = updatingReplica(set)
  const pending = replicas.filter(replica => !isDone(input, replica))
  if (current !== undefined && pending.includes(current)) return undefined
  // Replicas that serve nobody first: they lose nothing.
  const next = pending.find(replica => scheduledPods(input, replica) === 0) ?? pending[0]
  if (next === undefined) return ended(progress, now)
  return { ...progress, currentlyUpdating: [{ replicaIndex: next, updateStartedAt: now }] }
}

function ended(progress: PodCliqueSetUpdateProgress, now: string): PodCliqueSetUpdateProgress {
  const { currentlyUpdating: _, ...rest } = progress
  return { ...rest, updateEndedAt: now }
}

function isDone({ set, revision, cliqueNamed, groupNamed }: SetUpdateInput, replica: number): boolean {
  const cliques = standaloneCliques(set, replica).every(({ name }) => {
    const clique = cliqueNamed(name)
    return clique !== undefined && isConverged(clique, revision)
  })
  return (
    cliques &&
    scalingGroups(set, replica).every(({ name }) => {
      const group = groupNamed(name)
      return (
        group?.status?.currentPodCliqueSetGenerationHash === revision.generationHash &&
        group.status.availableReplicas >= (group.spec.minAvailable ?? 1)
      )
    })
  )
}

function scheduledPods({ set, cliqueNamed, groupNamed }: SetUpdateInput, replica: number): number {
  const inCliques = standaloneCliques(set, replica).map(
    ({ name }) => cliqueNamed(name)?.status?.scheduledReplicas ?? 0,
  )
  const inGroups = scalingGroups(set, replica).map(
    ({ name }) => groupNamed(name)?.status?.scheduledReplicas ?? 0,
  )
  return [...inCliques, ...inGroups].reduce((sum, count) => sum + count, 0)
}
