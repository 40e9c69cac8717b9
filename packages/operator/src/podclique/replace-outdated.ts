// SPDX-License-Identifier: Apache-2.0

// Carries out the update of a standalone clique: what is to go is written down before it is told to go, so
// that an operator that comes after us neither forgets it nor takes another one beside it.
import { label, type Pod, type PodClique, type PodCliqueUpdateProgress } from '@grove/api'
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
  const { plan, progress } = cliqueUpdate(set, clique, instance, world.podsOf(clique), context)
  if (plan.kind === 'discard') return removePods(clique, plan.pods, context, signal)
  if (plan.kind !== 'replace' || !progress) return []
  const selection = select(progress.readyPodsSelectedToUpdate, plan.pod.metadata.name, plan.readyBefore)
  const { status } = withProgress(clique, { ...progress, readyPodsSelectedToUpdate: selection })
  await writeStatus(world, resources.podCliques, clique as Stored<PodClique>, status, { signal })
  return removePods(clique, [plan.pod], context, signal)
}

/** Members of a scaling group are replaced by their group, never pod by pod. */
function isOwnUpdate(set: StoredSet, clique: StoredClique, instance: CliqueInstance): boolean {
  const revision = revisionOf(set)
  const own = clique.metadata.labels?.[label.podTemplateHash] ?? ''
  // Only when set and clique speak of the same template: between two quick edits one may be ahead of the
  // other.
  return !instance.group && mayUpdate(set, instance.setReplica) && own === revision.hashOf(clique)
}
