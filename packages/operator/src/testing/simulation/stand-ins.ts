// SPDX-License-Identifier: Apache-2.0

// Checks the decisions of an update with surge replicas. No more replicas than maxUnavailable may be missing, and a
// surge replica is not removed earlier. The check uses the statuses of the children, because the operator knows only
// these.
import type { PodClique, PodCliqueScalingGroup } from '@grove/api'
import { resources } from '../../caches/resources.ts'
import { setReplicaOf } from '../../layout/clique-instance.ts'
import { range, replicaCount, scalingGroups, standaloneCliques } from '../../layout/layout.ts'
import type { StoredSet } from '../../layout/stored.ts'
import { templateHashOfClique } from '../../revision/revision.ts'
import { revisionOf } from '../../revision/set-revision.ts'
import { isActive, templateHashOf } from '../../state/pod-state.ts'
import { updatingReplicas } from '../../update/set-progress.ts'
import type { Known } from './simulation.ts'

/** The update progress in a status patch of a set; absent members stay as they are. */
export interface WrittenProgress {
  readonly currentlyUpdating?: readonly { readonly replicaIndex: number }[] | null
  readonly surgeReplicas?: number | null
  readonly updateEndedAt?: string | null
}

/** `planned` is the set with the spec that the reconcile used for its decision. */
export function checkStandIns(simulation: Known, planned: StoredSet, written: WrittenProgress): void {
  const { maxSurge = 0, maxUnavailable = 1 } = planned.spec.updateStrategy ?? {}
  const replicas = planned.spec.replicas ?? 0
  const surge = written.surgeReplicas
  if (surge && surge > maxSurge) throw new Error(`${surge} surge replicas, and only ${maxSurge} are allowed`)
  if (maxSurge === 0 || written.updateEndedAt) return
  const before = updatingReplicas(planned)
  const updating =
    written.currentlyUpdating === undefined
      ? before
      : (written.currentlyUpdating ?? []).map(({ replicaIndex }) => replicaIndex)
  const had = replicaCount(planned)
  const have = surge === undefined ? had : Math.min(had, replicas + (surge ?? 0))
  const isServing = (replica: number) => servingReplica(simulation, planned, replica)
  // A replica without outdated children is not disrupted.
  const isTaken = (replica: number) =>
    updating.includes(replica) && (before.includes(replica) || isOutdated(simulation, planned, replica))
  const taken = range(0, replicas).filter(
    replica => isTaken(replica) && !before.includes(replica) && isServing(replica),
  )
  const gone = range(have, had).filter(replica => isServing(replica) && !before.includes(replica))
  const left = range(0, have).filter(replica => isServing(replica) && !isTaken(replica)).length
  const isAtRest = updating.length === 0 && !surge
  if (left < replicas - maxUnavailable && (taken.length || (gone.length && !isAtRest)))
    throw new Error(
      `replicas ${taken} are disrupted and ${gone} removed; ${left} of ${replicas} serve, ${maxUnavailable} may be missing`,
    )
}

function servingReplica({ cliques, groups }: Known, set: StoredSet, replica: number): boolean {
  const named = <T extends PodClique | PodCliqueScalingGroup>(list: readonly T[], name: string) =>
    list.find(one => one.metadata.name === name && !one.metadata.deletionTimestamp)
  return (
    standaloneCliques(set, replica).every(({ name }) => {
      const clique = named(cliques, name)
      const { replicas = 0, minAvailable = replicas } = clique?.spec ?? {}
      return clique && (clique.status?.readyReplicas ?? 0) >= Math.min(minAvailable, replicas)
    }) &&
    scalingGroups(set, replica).every(({ name }) => {
      const group = named(groups, name)
      const { replicas = 0, minAvailable = 1 } = group?.spec ?? {}
      return group && (group.status?.availableReplicas ?? 0) >= Math.min(minAvailable, replicas)
    })
  )
}

function isOutdated({ api, cliques }: Known, set: StoredSet, replica: number): boolean {
  const revision = revisionOf(set)
  return cliques
    .filter(clique => setReplicaOf(clique) === replica)
    .some(
      clique =>
        !revision.isCurrent(clique, templateHashOfClique(clique)) ||
        api
          .controlledBy(resources.pods, clique.metadata.uid!)
          .filter(isActive)
          .some(pod => !revision.isCurrent(clique, templateHashOf(pod) ?? '')),
    )
}
