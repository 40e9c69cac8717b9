// SPDX-License-Identifier: Apache-2.0

// Plans the update of a standalone clique: its units are its pods.
import type { Pod, PodCliqueStatus, PodCliqueUpdateProgress } from '@grove/api'
import { type CliqueInstance, minAvailableOfClique } from '../layout/layout.ts'
import type { StoredClique, StoredSet } from '../layout/stored.ts'
import { templateHashOfClique } from '../revision/revision.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { isActive, isScheduled } from '../state/pod-state.ts'
import { type ChildUpdate, planChildUpdate } from './child-update.ts'
import { currentHash } from './outdated-pods.ts'
import { type PodUnit, podUnits } from './pod-units.ts'
import { podProgress, withSelected } from './progress.ts'
import { mayUpdate } from './set-progress.ts'
import { podTerms } from './unit-messages.ts'

export type CliqueUpdate = ChildUpdate<PodUnit, PodCliqueUpdateProgress>

export function planCliqueUpdate(
  set: StoredSet,
  clique: StoredClique,
  instance: CliqueInstance,
  pods: readonly Pod[],
  now: number,
): CliqueUpdate {
  const revision = revisionOf(set)
  return planChildUpdate({
    set,
    replicas: clique.spec.replicas,
    minAvailable: minAvailableOfClique(clique),
    units: podUnits(pods, currentHash(revision, clique)),
    before: revision.renamed(clique.status?.updateProgress, clique),
    fields: podProgress,
    target: { generationHash: revision.generationHash, podTemplateHash: templateHashOfClique(clique) },
    terms: podTerms,
    mayUpdate: mayReplacePods(set, clique, instance),
    now,
  })
}

/** Reports whether the clique replaces its own pods now. Scaling groups replace the pods of their members. */
export function mayReplacePods(set: StoredSet, clique: StoredClique, instance: CliqueInstance): boolean {
  // Between two quick edits the set or the clique may be newer, and pods would be replaced twice.
  const hasTarget = templateHashOfClique(clique) === revisionOf(set).hashOf(clique)
  return !instance.group && mayUpdate(set, instance.setReplica) && hasTarget
}

const emptyStatus: PodCliqueStatus = {
  readyReplicas: 0,
  updatedReplicas: 0,
  scheduleGatedReplicas: 0,
  scheduledReplicas: 0,
}

/** The clique with the progress of its update. */
export function withCliqueProgress(clique: StoredClique, { progress }: CliqueUpdate): StoredClique {
  return progress
    ? { ...clique, status: { ...emptyStatus, ...clique.status, updateProgress: progress } }
    : clique
}

/** The status to write before the planned pods are deleted; undefined when none has to be written. */
export function statusBeforeDeletion(
  clique: StoredClique,
  { plan, progress }: CliqueUpdate,
  pods: readonly Pod[],
): PodCliqueStatus | undefined {
  if (plan.kind === 'discard') {
    const status = clique.status && withoutDeleted(clique.status, pods, plan.units)
    // Only a count of zero is reported as a loss.
    return status?.scheduledReplicas === 0 ? status : undefined
  }
  if (plan.kind !== 'replace' || !progress) return undefined
  const { id: current, index: currentIndex } = plan.unit
  const selected = withSelected(podProgress, progress, {
    current,
    ...(currentIndex !== undefined && { currentIndex }),
  })
  return withoutDeleted({ ...emptyStatus, ...clique.status, updateProgress: selected }, pods, [plan.unit])
}

/** Pods that are about to be deleted are not counted as scheduled: the next status must not report them as lost. */
function withoutDeleted(
  status: PodCliqueStatus,
  pods: readonly Pod[],
  deleted: readonly PodUnit[],
): PodCliqueStatus {
  const deletedPods = new Set(deleted.map(({ pod }) => pod))
  const left = pods.filter(pod => isActive(pod) && isScheduled(pod) && !deletedPods.has(pod)).length
  return { ...status, scheduledReplicas: Math.min(status.scheduledReplicas, left) }
}
