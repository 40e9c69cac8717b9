// SPDX-License-Identifier: Apache-2.0

// Carries out the update of a scaling group: the serving replica that is to go is written down before it is
// told to go, so that an operator that comes after us neither forgets it nor takes another one beside it.
import {
  label,
  type PodClique,
  type PodCliqueScalingGroup,
  type PodCliqueScalingGroupUpdateProgress,
} from '@grove/api'
import type { Stored } from '@grove/kube'
import { numberLabel } from '../clique-instance.ts'
import { PassFailed } from '../coded-error.ts'
import { keyOf, refOf } from '../object-key.ts'
import { type OperatorContext, timestamp } from '../operator-context.ts'
import { hasOutdatedPods } from '../podclique/outdated-pods.ts'
import { isOnDelete, isPaused, mayUpdate, settlesInMs } from '../podcliqueset/update.ts'
import { resources } from '../resources.ts'
import { revisionOf } from '../revision-of-set.ts'
import { writeStatus } from '../status-write.ts'
import type { StoredClique, StoredScalingGroup, StoredSet } from '../stored.ts'
import { withoutDeleted, writeOffReplicas } from './planned-loss.ts'
import { removeReplicas } from './replica-removal.ts'
import { type GroupUpdatePlan, planGroupUpdate } from './update.ts'
import { groupProgress, selectReplica } from './update-progress.ts'

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
  { clock, world }: OperatorContext,
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
    hasOutdatedPods: clique => hasOutdatedPods(set, clique as StoredClique, world.podsOf(clique)),
    selected: onDelete || before?.updateEndedAt ? undefined : selection?.current,
    paused: isPaused(set),
    settlesInMs: settlesInMs(set, clock.now()),
  })
  const progress = groupProgress({
    before,
    generationHash: revision.generationHash,
    unfinished: plan.kind !== 'finished',
    mayUpdate: isOwnTurn(set, group),
    onDelete,
    now: timestamp(clock),
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

/** Replaces what is to be replaced next, if it is this group's turn. */
export async function replaceOutdated(
  set: StoredSet,
  group: StoredScalingGroup,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  if (!isOwnTurn(set, group)) return
  const { world } = context
  const stored = (world.groups.get(refOf(keyOf(group))) as StoredScalingGroup | undefined) ?? group
  const { plan, progress } = groupUpdate(
    set,
    stored,
    world.cliques.byIndex('controller', group.metadata.uid),
    context,
  )
  if (plan.kind === 'replace' && progress) {
    const selection = selectReplica(progress.readyReplicaIndicesSelectedToUpdate, plan.replica)
    const { status } = withProgress(stored, { ...progress, readyReplicaIndicesSelectedToUpdate: selection })
    await writeStatus(
      world,
      resources.podCliqueScalingGroups,
      stored as Stored<PodCliqueScalingGroup>,
      withoutDeleted(stored, status, [plan.replica], context),
      { signal },
    )
  }
  const going = plan.kind === 'replace' ? [plan.replica] : plan.kind === 'discard' ? plan.replicas : []
  await writeOffReplicas(stored, going, context, signal)
  const failures = await removeReplicas(set, group, going, context, signal)
  if (failures.length) throw new PassFailed(failures)
}

export function isOwnTurn(set: StoredSet, group: StoredScalingGroup): boolean {
  const replica = numberLabel(group.metadata.labels, label.setReplicaIndex)
  return replica !== undefined && mayUpdate(set, replica)
}
