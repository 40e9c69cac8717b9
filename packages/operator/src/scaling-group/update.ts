// SPDX-License-Identifier: Apache-2.0

// Which outdated replicas of a scaling group are replaced next: those that serve nobody at once, serving ones one at a
// time, lowest index first, the next only when everything that was replaced serves again.
import { conditionType, type PodClique } from '@grove/api'
import { findCondition } from '../condition-list.ts'
import { range } from '../layout.ts'
import { type Revision, templateHashOfClique } from '../revision.ts'
import { replicaIndexOf } from './plan.ts'

export interface GroupUpdateInput {
  readonly replicas: number
  /** Names of the cliques that each replica consists of. */
  readonly cliqueCount: number
  /** Controlled by the group, terminating ones included. */
  readonly cliques: readonly PodClique[]
  readonly revision: Revision
}

export interface GroupUpdatePlan {
  readonly removeReplicas: readonly number[]
  readonly finished: boolean
  readonly waitsFor: string | undefined
}

export function planGroupUpdate(input: GroupUpdateInput): GroupUpdatePlan {
  const { replicas, cliqueCount, revision } = input
  const states = range(0, replicas).map(index => {
    const cliques = input.cliques.filter(clique => replicaIndexOf(clique) === index)
    const live = cliques.filter(clique => !clique.metadata.deletionTimestamp)
    return {
      index,
      outdated: live.some(clique => !isCurrent(clique, revision)),
      serves: live.length === cliqueCount && live.every(isServing),
    }
  })
  const outdated = states.filter(state => state.outdated)
  if (outdated.length === 0) return { removeReplicas: [], finished: true, waitsFor: undefined }
  const useless = outdated.filter(state => !state.serves)
  if (useless.length)
    return { removeReplicas: useless.map(({ index }) => index), finished: false, waitsFor: undefined }
  const behind = states.find(state => !state.serves)
  if (behind) return waiting(`replica ${behind.index} to be available again`)
  return { removeReplicas: [outdated[0]!.index], finished: false, waitsFor: undefined }
}

function waiting(waitsFor: string): GroupUpdatePlan {
  return { removeReplicas: [], finished: false, waitsFor }
}

function isCurrent(clique: PodClique, revision: Revision): boolean {
  return revision.isCurrent(clique, templateHashOfClique(clique))
}

function isServing(clique: PodClique): boolean {
  const minAvailable = clique.spec.minAvailable ?? clique.spec.replicas
  const placed = findCondition(clique.status?.conditions, conditionType.podCliqueScheduled)?.status === 'True'
  return placed && (clique.status?.readyReplicas ?? 0) >= minAvailable
}
