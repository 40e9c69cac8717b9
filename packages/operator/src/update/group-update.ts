// SPDX-License-Identifier: Apache-2.0

// Which outdated replicas of a scaling group are replaced next, or why none is: those that serve nobody at
// once, serving ones one at a time, lowest index first, the next only when the last serves again. Replicas
// that are not available for other reasons neither hold the update up nor let it take more. A group with more
// replicas than its minimum never falls below it.
import { conditionType, type PodClique } from '@grove/api'
import { replicaIndexOf } from '../layout/clique-instance.ts'
import { type Revision, templateHashOfClique } from '../revision/revision.ts'
import { findCondition } from '../state/conditions.ts'

export interface GroupUpdateInput {
  readonly replicas: number
  readonly minAvailable: number
  /** Names of the cliques that each replica consists of. */
  readonly cliqueCount: number
  /** Controlled by the group, terminating ones included. */
  readonly cliques: readonly PodClique[]
  readonly revision: Revision
  /** By the pods themselves: a status may tell of one that is gone. */
  hasOutdatedPods(clique: PodClique): boolean
  /** The serving replica that was told to go last. */
  readonly selected: number | undefined
  readonly paused: boolean
  /** How long the target has to stand still before replicas that are still starting are given up for it. */
  readonly stabilizesInMs: number
}

export type GroupUpdatePlan =
  /** Nothing outdated is left, and what was taken down serves again. */
  | { readonly kind: 'finished' }
  /** Replicas that serve nobody. */
  | { readonly kind: 'discard'; readonly replicas: readonly number[] }
  /** A serving replica. */
  | { readonly kind: 'replace'; readonly replica: number }
  | { readonly kind: 'wait'; readonly because: string; readonly retryInMs?: number; readonly paused?: true }

export function planGroupUpdate(input: GroupUpdateInput): GroupUpdatePlan {
  const { replicas, minAvailable, selected } = input
  const byIndex = statesOf(input)
  const states = [...byIndex.values()]
  const outdated = states.filter(state => state.outdated)
  const last = selected === undefined ? undefined : byIndex.get(selected)
  const isAwaited = last !== undefined && !last.outdated && !last.serves
  if (outdated.length === 0) return isAwaited ? waiting(notBack(last.index)) : { kind: 'finished' }
  if (input.paused) return { ...waiting('the update is paused'), paused: true }

  const useless = outdated.filter(state => !state.serves).map(({ index }) => index)
  if (useless.length) {
    if (input.stabilizesInMs <= 0) return { kind: 'discard', replicas: useless }
    const because = `replicas ${useless.join(', ')} are not available, until the template has settled`
    return { ...waiting(because), retryInMs: input.stabilizesInMs }
  }
  if (isAwaited) return waiting(notBack(last.index))
  const available = states.filter(state => state.serves).length
  if (replicas > minAvailable ? available <= minAvailable : available < replicas)
    return waiting(
      `only ${available} of ${replicas} replicas are available, and ${Math.min(minAvailable, replicas)} must stay so`,
    )
  // The one that was begun with comes first: it may be going already.
  return { kind: 'replace', replica: last?.outdated ? last.index : outdated[0]!.index }
}

function waiting(because: string) {
  return { kind: 'wait', because } as const
}

function notBack(replica: number): string {
  return `replica ${replica} is not available again`
}

interface ReplicaState {
  readonly index: number
  readonly outdated: boolean
  readonly serves: boolean
}

/** The states of replicas that have members, in the order of their indexes, and of the one that was begun with. */
function statesOf(input: GroupUpdateInput): Map<number, ReplicaState> {
  const { replicas, cliques, cliqueCount, selected } = input
  const live = new Map<number, PodClique[]>(
    selected !== undefined && selected < replicas ? [[selected, []]] : [],
  )
  for (const clique of cliques) {
    const index = replicaIndexOf(clique)
    if (clique.metadata.deletionTimestamp || index === undefined || index >= replicas) continue
    const members = live.get(index)
    if (members) members.push(clique)
    else live.set(index, [clique])
  }
  const inOrder = [...live].sort(([one], [other]) => one - other)
  return new Map(
    inOrder.map(([index, members]) => [
      index,
      {
        index,
        outdated: members.some(clique => isOutdated(clique, input)),
        serves: members.length === cliqueCount && members.every(isServing),
      },
    ]),
  )
}

/** Its template is not the wanted one; or it is, and pods that OnDelete left behind are not. */
function isOutdated(clique: PodClique, { revision, hasOutdatedPods }: GroupUpdateInput): boolean {
  const { isCurrent } = revision
  if (!isCurrent(clique, templateHashOfClique(clique))) return true
  const { status } = clique
  return (
    status !== undefined &&
    !isCurrent(clique, status.currentPodTemplateHash ?? '') &&
    status.observedGeneration === clique.metadata.generation &&
    status.updatedReplicas < (status.replicas ?? 0) &&
    hasOutdatedPods(clique)
  )
}

function isServing(clique: PodClique): boolean {
  const minAvailable = clique.spec.minAvailable ?? clique.spec.replicas
  const placed = findCondition(clique.status?.conditions, conditionType.podCliqueScheduled)?.status === 'True'
  return placed && (clique.status?.readyReplicas ?? 0) >= minAvailable
}
