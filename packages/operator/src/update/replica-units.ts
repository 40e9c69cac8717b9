// SPDX-License-Identifier: Apache-2.0

import type { PodClique } from '@grove/api'
import { membersByReplica } from '../layout/clique-instance.ts'
import type { Revision } from '../revision/revision.ts'
import { hasEnoughReady } from '../state/child-state.ts'
import { hasEnoughScheduled, hasWantedTemplate } from './clique-state.ts'
import type { Unit } from './units.ts'

export interface ReplicaUnit extends Unit {
  readonly id: number
}

export interface ReplicaUnitsInput {
  readonly replicas: number
  /** The number of cliques in a replica. */
  readonly cliqueCount: number
  /** Cliques that the group controls, including terminating ones. */
  readonly cliques: readonly PodClique[]
  readonly revision: Revision
  /** Reads the pods, because a status may count a pod that no longer exists. */
  hasOutdatedPods(clique: PodClique): boolean
}

/** The replicas of a scaling group that have members, as units of its update, in the order of their indexes. */
export function replicaUnits(input: ReplicaUnitsInput): ReplicaUnit[] {
  const { replicas, cliques, cliqueCount } = input
  return [...membersByReplica(cliques)]
    .filter(([index]) => index < replicas)
    .sort(([one], [other]) => one - other)
    .map(([index, members]) => ({
      id: index,
      index,
      outdated: members.some(clique => isOutdated(clique, input)),
      serving: members.length === cliqueCount && members.every(isServing),
      createdAt: 0,
    }))
}

/** Has another template than the wanted one, or pods that were left behind when the strategy was OnDelete. */
function isOutdated(clique: PodClique, { revision, hasOutdatedPods }: ReplicaUnitsInput): boolean {
  if (!hasWantedTemplate(clique, revision)) return true
  const { status } = clique
  return (
    status !== undefined &&
    !revision.isCurrent(clique, status.currentPodTemplateHash ?? '') &&
    status.observedGeneration === clique.metadata.generation &&
    status.updatedReplicas < (status.replicas ?? 0) &&
    hasOutdatedPods(clique)
  )
}

function isServing(clique: PodClique): boolean {
  return hasEnoughScheduled(clique) && hasEnoughReady(clique)
}
