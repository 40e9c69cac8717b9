// SPDX-License-Identifier: Apache-2.0

// Plans the status of a PodCliqueSet from the states of its replicas.
import {
  type Condition,
  type ConditionValue,
  conditionType,
  type PodCliqueSetStatus,
  type PodGangStatusSummary,
  podSelector,
} from '@grove/api'
import { replicaCount, scalingGroupConfigs, standaloneTemplates } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import { findCondition, withCondition, withoutCondition } from '../state/conditions.ts'
import type { ReplicaState } from '../update/replica-state.ts'
import { availableCondition } from './availability.ts'
import { gangStatuses } from './gang-statuses.ts'

export interface SetStatusInput {
  readonly set: StoredSet
  /** States of the existing replicas. The others are not available, and may be many. */
  readonly states: readonly ReplicaState[]
  /** The revision for a first status. A later revision is written when its update starts. */
  readonly generationHash: string | undefined
  readonly topology: ConditionValue | undefined
  readonly update: ConditionValue | undefined
  readonly stalled: ConditionValue | undefined
  /** The gangs of the set, in their order; undefined if they were not read. */
  readonly gangs: Iterable<PodGangStatusSummary> | undefined
  readonly now: string
}

export function planSetStatus(input: SetStatusInput): PodCliqueSetStatus {
  const { set, generationHash } = input
  const before = set.status
  const wanted = set.spec.replicas ?? 0
  const count = replicaCount(set)
  const existing = input.states.filter(({ replica }) => replica < count)
  // Surge replicas count as available, but not as updated.
  const replicas = existing.filter(({ replica }) => replica < wanted)
  const currentGenerationHash = before?.currentGenerationHash ?? generationHash
  return {
    ...before,
    ...(currentGenerationHash && { currentGenerationHash }),
    replicas: wanted,
    availableReplicas: existing.filter(({ isAvailable }) => isAvailable).length,
    updatedReplicas: replicas.filter(({ isUpdated }) => isUpdated).length,
    hpaPodSelector: podSelector.ofSet(set.metadata.name),
    ...(before?.updateProgress && {
      updateProgress: {
        ...before.updateProgress,
        updatedPodCliquesCount: replicas.reduce((sum, { updatedCliques }) => sum + updatedCliques, 0),
        totalPodCliquesCount: standaloneTemplates(set).length * wanted,
        updatedPodCliqueScalingGroupsCount: replicas.reduce(
          (sum, { updatedGroups }) => sum + updatedGroups,
          0,
        ),
        totalPodCliqueScalingGroupsCount: scalingGroupConfigs(set).length * wanted,
      },
    }),
    ...(input.gangs && { podGangStatuses: gangStatuses(input.gangs) }),
    conditions: conditions(input),
  }
}

function conditions({ set, states, topology, update, stalled, now }: SetStatusInput): Condition[] {
  const before = set.status?.conditions
  const wanted: Readonly<Record<string, ConditionValue | undefined>> = {
    [conditionType.available]: availableCondition(set, states, stalled),
    [conditionType.stalled]: stalled,
    [conditionType.topologyLevelsUnavailable]: topology,
    [conditionType.updateProgressing]: update,
  }
  const after = Object.entries(wanted).reduce<readonly Condition[]>(
    (all, [type, value]) => (value ? withCondition(all, value, now) : (withoutCondition(all, type) ?? [])),
    before ?? [],
  )
  // A condition that is kept belongs to the generation for which it was computed.
  const computed = Object.values(wanted).filter(value => !before?.some(kept => kept === value))
  return after.map(condition =>
    computed.some(value => value?.type === condition.type)
      ? { ...condition, observedGeneration: set.metadata.generation }
      : condition,
  )
}

/** Reports whether every replica of a set is available, by its status. */
export function isAvailable(set: StoredSet): boolean {
  return (
    (set.status?.availableReplicas ?? 0) >= (set.spec.replicas ?? 0) &&
    findCondition(set.status?.conditions, conditionType.topologyLevelsUnavailable)?.status !== 'True'
  )
}
