// SPDX-License-Identifier: Apache-2.0

// Plans the update of a scaling group: its units are its replicas.
import type { PodClique, PodCliqueScalingGroupStatus, PodCliqueScalingGroupUpdateProgress } from '@grove/api'
import { setReplicaOf } from '../layout/clique-instance.ts'
import { minAvailableOfGroup } from '../layout/layout.ts'
import type { StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { type ChildUpdate, planChildUpdate } from './child-update.ts'
import { replicaProgress, withSelected } from './progress.ts'
import { type ReplicaUnit, replicaUnits } from './replica-units.ts'
import { mayUpdate } from './set-progress.ts'
import { replicaTerms } from './unit-messages.ts'

export type GroupUpdate = ChildUpdate<ReplicaUnit, PodCliqueScalingGroupUpdateProgress>

export function planGroupUpdate(
  set: StoredSet,
  group: StoredScalingGroup,
  cliques: readonly PodClique[],
  hasOutdatedPods: (clique: PodClique) => boolean,
  now: number,
): GroupUpdate {
  const { replicas, cliqueNames } = group.spec
  const revision = revisionOf(set)
  return planChildUpdate({
    set,
    replicas,
    minAvailable: minAvailableOfGroup(group.spec),
    units: replicaUnits({ replicas, cliqueCount: cliqueNames.length, cliques, revision, hasOutdatedPods }),
    before: revision.renamed(group.status?.updateProgress),
    fields: replicaProgress,
    target: { generationHash: revision.generationHash, podTemplateHash: '' },
    terms: replicaTerms,
    mayUpdate: mayReplaceReplicas(set, group),
    now,
  })
}

/** Reports whether the group replaces its replicas now. */
export function mayReplaceReplicas(set: StoredSet, group: StoredScalingGroup): boolean {
  const replica = setReplicaOf(group)
  return replica !== undefined && mayUpdate(set, replica)
}

const emptyStatus: PodCliqueScalingGroupStatus = {
  scheduledReplicas: 0,
  availableReplicas: 0,
  updatedReplicas: 0,
}

export function withGroupProgress<T extends StoredScalingGroup>(group: T, { progress }: GroupUpdate): T {
  if (!progress) return group
  return { ...group, status: { ...emptyStatus, ...group.status, updateProgress: progress } }
}

/**
 * The status that selects a serving replica; undefined when none is replaced. Written before the replica is deleted.
 */
export function statusWithSelection(
  group: StoredScalingGroup,
  { plan, progress }: GroupUpdate,
): PodCliqueScalingGroupStatus | undefined {
  if (plan.kind !== 'replace' || !progress) return undefined
  const selected = withSelected(replicaProgress, progress, { current: plan.unit.id })
  return { ...emptyStatus, ...group.status, updateProgress: selected }
}

/** The replicas to delete. */
export function replicasToDelete({ plan }: GroupUpdate): readonly number[] {
  if (plan.kind === 'replace') return [plan.unit.id]
  return plan.kind === 'discard' ? plan.units.map(({ id }) => id) : []
}

/**
 * The replicas whose missing cliques are not created: the outdated cliques of these replicas are deleted first. A
 * deletion that fails half-way leaves such replicas, and a clique that was created now would be deleted together with
 * the outdated ones.
 */
export function replicasToRecreate(update: GroupUpdate): ReadonlySet<number> {
  const { plan } = update
  const isDelayed = plan.kind === 'wait' && plan.reason === 'unstable'
  return new Set(isDelayed ? plan.units.map(({ id }) => id) : replicasToDelete(update))
}
