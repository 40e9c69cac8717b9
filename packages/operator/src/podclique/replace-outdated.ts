// SPDX-License-Identifier: Apache-2.0

// Carries out the update of a standalone clique: what is to go is written down before it is told to go, so
// that an operator that comes after us neither forgets it nor takes another one beside it.
import {
  label,
  type Pod,
  type PodClique,
  type PodCliqueStatus,
  type PodCliqueUpdateProgress,
} from '@grove/api'
import type { Stored } from '@grove/kube'
import type { CliqueInstance } from '../layout.ts'
import { type OperatorContext, timestamp } from '../operator-context.ts'
import { isOnDelete, isPaused, mayUpdate, settlesInMs } from '../podcliqueset/update.ts'
import { resources } from '../resources.ts'
import { revisionOf } from '../revision-of-set.ts'
import { writeStatus } from '../status-write.ts'
import type { StoredClique, StoredSet } from '../stored.ts'
import { currentHash } from './outdated-pods.ts'
import { removePods } from './pod-removal.ts'
import { indexOf, isActive, isScheduled } from './pod-state.ts'
import { type CliqueUpdatePlan, planCliqueUpdate } from './update.ts'
import { cliqueProgress, select } from './update-progress.ts'

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
  { clock }: OperatorContext,
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
    settlesInMs: settlesInMs(set, clock.now()),
  })
  const progress = cliqueProgress({
    before,
    generationHash: revisionOf(set).generationHash,
    podTemplateHash: clique.metadata.labels?.[label.podTemplateHash] ?? '',
    unfinished: plan.kind !== 'finished',
    mayUpdate: isOwnUpdate(set, clique, instance),
    onDelete,
    now: timestamp(clock),
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

/** Replaces what is to be replaced next; returns what went wrong. */
export async function replaceOutdated(
  set: StoredSet,
  clique: StoredClique,
  instance: CliqueInstance,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<unknown[]> {
  if (!isOwnUpdate(set, clique, instance)) return []
  const { world } = context
  const pods = world.podsOf(clique)
  const { plan, progress } = cliqueUpdate(set, clique, instance, pods, context)
  const write = (status: PodCliqueStatus | undefined) =>
    writeStatus(world, resources.podCliques, clique as Stored<PodClique>, status, { signal })
  if (plan.kind === 'discard') {
    const status = withoutDeleted(clique.status, pods, plan.pods)
    // Only a count of zero is read as a loss.
    if (status?.scheduledReplicas === 0) await write(status)
    return removePods(clique, plan.pods, context, signal)
  }
  if (plan.kind !== 'replace' || !progress) return []
  const selection = select(progress.readyPodsSelectedToUpdate, plan.pod.metadata.name, indexOf(plan.pod))
  const { status } = withProgress(clique, { ...progress, readyPodsSelectedToUpdate: selection })
  await write(withoutDeleted(status, pods, [plan.pod]))
  return removePods(clique, [plan.pod], context, signal)
}

/**
 * The status in which pods that the update is about to delete are not scheduled any more. It is written before they are
 * deleted: the next status then does not report them as lost, whichever operator writes it.
 */
function withoutDeleted<T extends PodCliqueStatus | undefined>(
  status: T,
  pods: readonly Pod[],
  deleted: readonly Pod[],
): T {
  if (!status) return status
  const left = pods.filter(pod => isActive(pod) && isScheduled(pod) && !deleted.includes(pod)).length
  return { ...status, scheduledReplicas: Math.min(status.scheduledReplicas, left) }
}

/** Members of a scaling group are replaced by their group, never pod by pod. */
function isOwnUpdate(set: StoredSet, clique: StoredClique, instance: CliqueInstance): boolean {
  const revision = revisionOf(set)
  const own = clique.metadata.labels?.[label.podTemplateHash] ?? ''
  // Only when set and clique speak of the same template: between two quick edits one may be ahead of the
  // other.
  return !instance.group && mayUpdate(set, instance.setReplica) && own === revision.hashOf(clique)
}
