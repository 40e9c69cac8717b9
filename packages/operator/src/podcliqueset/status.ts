// SPDX-License-Identifier: Apache-2.0

// The status of a PodCliqueSet, computed from its cliques and scaling groups. Members of scaling groups are counted
// by their group.
import {
  type Condition,
  type ConditionValue,
  conditionType,
  type PodClique,
  type PodCliqueScalingGroup,
  type PodCliqueSetStatus,
  podSelector,
} from '@grove/api'
import {
  replicaCount,
  scalingGroupConfigs,
  scalingGroups,
  standaloneCliques,
  standaloneTemplates,
} from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import { hasReachedGeneration, isConverged, type Revision } from '../revision/revision.ts'
import { hasEnoughAvailable, hasEnoughReady } from '../state/child-state.ts'
import { findCondition, withCondition, withoutCondition } from '../state/conditions.ts'

export interface SetStatusInput {
  readonly set: StoredSet
  /** Indexes of the replicas that have live children: the others cannot be available, and may be far more. */
  presentReplicas(): Iterable<number>
  /** Live children controlled by this set, by name; terminating ones are not among them. */
  cliqueNamed(name: string): PodClique | undefined
  groupNamed(name: string): PodCliqueScalingGroup | undefined
  readonly revision: Revision
  readonly topology: ConditionValue | undefined
  readonly update: ConditionValue | undefined
  readonly now: string
}

export function planSetStatus(input: SetStatusInput): PodCliqueSetStatus {
  const { set, revision } = input
  const before = set.status
  const wanted = set.spec.replicas ?? 0
  const count = replicaCount(set)
  const all = Iterator.from(input.presentReplicas())
    .filter(replica => replica < count)
    .map(replica => assess(input, replica))
    .toArray()
  // Surge replicas count as available, but not as replicas to update.
  const replicas = all.filter(({ replica }) => replica < wanted)
  const updatedCliques = replicas.reduce((sum, { updatedCliques }) => sum + updatedCliques, 0)
  const updatedGroups = replicas.reduce((sum, { updatedGroups }) => sum + updatedGroups, 0)
  return {
    ...before,
    // Only the first: a new one is announced together with the update that it starts, never in passing.
    ...(before?.currentGenerationHash === undefined &&
      revision.generationHash && { currentGenerationHash: revision.generationHash }),
    replicas: wanted,
    availableReplicas: all.filter(replica => replica.available).length,
    updatedReplicas: replicas.filter(replica => replica.updated).length,
    hpaPodSelector: podSelector.ofSet(set.metadata.name),
    ...(before?.updateProgress && {
      updateProgress: {
        ...before.updateProgress,
        updatedPodCliquesCount: updatedCliques,
        totalPodCliquesCount: standaloneTemplates(set).length * wanted,
        updatedPodCliqueScalingGroupsCount: updatedGroups,
        totalPodCliqueScalingGroupsCount: scalingGroupConfigs(set).length * wanted,
      },
    }),
    conditions: conditions(input),
  }
}

interface ReplicaState {
  readonly replica: number
  readonly available: boolean
  readonly updated: boolean
  readonly updatedCliques: number
  readonly updatedGroups: number
}

function assess({ set, cliqueNamed, groupNamed, revision }: SetStatusInput, replica: number): ReplicaState {
  const expectedCliques = standaloneCliques(set, replica)
  const expectedGroups = scalingGroups(set, replica)
  const cliques = expectedCliques.map(({ name }) => cliqueNamed(name)).filter(clique => clique !== undefined)
  const groups = expectedGroups.map(({ name }) => groupNamed(name)).filter(group => group !== undefined)
  const updatedCliques = cliques.filter(clique => isConverged(clique, revision)).length
  const updatedGroups = groups.filter(({ status }) =>
    hasReachedGeneration(status?.currentPodCliqueSetGenerationHash, revision),
  ).length
  const available =
    cliques.length === expectedCliques.length &&
    groups.length === expectedGroups.length &&
    cliques.every(hasEnoughReady) &&
    groups.every(hasEnoughAvailable)
  return {
    replica,
    available,
    updated: available && updatedCliques === cliques.length && updatedGroups === groups.length,
    updatedCliques,
    updatedGroups,
  }
}

function conditions({ set, topology, update, now }: SetStatusInput): Condition[] {
  const before = set.status?.conditions
  const placed = topology
    ? withCondition(before, topology, now)
    : withoutCondition(before, conditionType.topologyLevelsUnavailable)
  const after = update
    ? withCondition(placed, update, now)
    : withoutCondition(placed, conditionType.updateProgressing)
  // A condition that is only kept speaks of the generation that it was made for.
  const told = [topology, update].filter(value => !before?.some(kept => kept === value))
  return (after ?? []).map(condition =>
    told.some(value => value?.type === condition.type)
      ? { ...condition, observedGeneration: set.metadata.generation }
      : condition,
  )
}

/** Reports whether every replica of a set is available. Demos and tests wait for this. */
export function isAvailable(set: StoredSet): boolean {
  return (
    (set.status?.availableReplicas ?? 0) >= (set.spec.replicas ?? 0) &&
    findCondition(set.status?.conditions, conditionType.topologyLevelsUnavailable)?.status !== 'True'
  )
}
