// SPDX-License-Identifier: Apache-2.0

// The status of a PodCliqueScalingGroup, computed from its PodCliques.
import {
  type Condition,
  type ConditionValue,
  conditionType,
  events,
  everHealthy,
  minAvailableBreached,
  names,
  type PodClique,
  type PodCliqueScalingGroup,
  type PodCliqueScalingGroupStatus,
  podSelector,
} from '@grove/api'
import { groupReplicaOf, membersByReplica } from '../layout/clique-instance.ts'
import { minAvailableOfGroup } from '../layout/layout.ts'
import type { StoredScalingGroup } from '../layout/stored.ts'
import { isConverged, type Revision } from '../revision/revision.ts'
import { nothingScheduled, timedBreach, wasHealthy, wasScheduled } from '../state/breach-condition.ts'
import { hasEnoughReady, isUpdating } from '../state/child-state.ts'
import {
  endsBreach,
  findCondition,
  nthBeginning,
  withCondition,
  withoutCondition,
} from '../state/conditions.ts'
import {
  type ChildStatusInput,
  type ChildStatusPlan,
  crosses,
  withUpdateCondition,
} from '../state/status-plan.ts'
import { hasEnoughScheduled, hasReachedRevision } from '../update/clique-state.ts'

export interface GroupStatusInput extends ChildStatusInput {
  readonly group: StoredScalingGroup
  /** Cliques that this group controls, possibly including unexpected and terminating ones. */
  readonly cliques: readonly PodClique[]
  readonly revision: Revision
}

export type GroupStatusPlan = ChildStatusPlan<PodCliqueScalingGroupStatus>

export function planGroupStatus(input: GroupStatusInput): GroupStatusPlan {
  const { group, revision } = input
  const before = group.status
  const replicas = [...replicasOf(input).values()]
  const complete = replicas.filter(cliques => isComplete(group, cliques))
  const scheduled = complete.filter(cliques => cliques.every(hasEnoughScheduled))
  const available = scheduled.filter(cliques => cliques.every(hasEnoughReady))
  const updated = available.filter(cliques => cliques.every(clique => isConverged(clique, revision)))
  const isUpToDate =
    complete.length === group.spec.replicas &&
    complete.every(cliques => cliques.every(clique => hasReachedRevision(clique, revision)))

  const status: PodCliqueScalingGroupStatus = {
    ...before,
    observedGeneration: group.metadata.generation,
    replicas: group.spec.replicas,
    scheduledReplicas: scheduled.length,
    availableReplicas: available.length,
    updatedReplicas: updated.length,
    selector: podSelector.ofScalingGroup(input.set, group.metadata.name),
    ...(!isUpdating(group) &&
      isUpToDate &&
      revision.generationHash && { currentPodCliqueSetGenerationHash: revision.generationHash }),
    ...(before?.updateProgress && {
      updateProgress: {
        ...before.updateProgress,
        updatedPodCliquesCount: replicas.flat().filter(clique => isConverged(clique, revision)).length,
        totalPodCliquesCount: group.spec.replicas * group.spec.cliqueNames.length,
      },
    }),
  }
  const isKept = wantedReplicas(group, replicas) > 0 && !input.isLeaving
  const lost = isKept && (before?.scheduledReplicas ?? 0) > 0 && scheduled.length === 0
  return {
    status: { ...status, conditions: conditions(input, replicas, scheduled.length) },
    events: lost
      ? [events.allGroupReplicasLost(before!.scheduledReplicas, input.onTotalLoss === 'Recreate')]
      : [],
  }
}

/** The existing expected cliques of each wanted replica that has any, by its index. */
function replicasOf({
  group,
  cliques,
}: Pick<GroupStatusInput, 'group' | 'cliques'>): Map<number, PodClique[]> {
  const { cliqueNames, replicas } = group.spec
  const isExpected = (clique: PodClique) => {
    const replica = groupReplicaOf(clique)
    if (replica === undefined || replica >= replicas) return false
    const expected = cliqueNames.map(name => names.memberClique(group.metadata.name, replica, name))
    return expected.includes(clique.metadata.name)
  }
  return membersByReplica(cliques.filter(isExpected))
}

/** Reports whether all cliques of a replica exist. */
function isComplete({ spec }: PodCliqueScalingGroup, cliques: readonly PodClique[]): boolean {
  return cliques.length === spec.cliqueNames.length
}

/** The number of replicas that can be scheduled at all. A replica with a clique that a user scaled to zero cannot. */
function wantedReplicas({ spec }: PodCliqueScalingGroup, replicas: readonly PodClique[][]): number {
  return spec.replicas - replicas.filter(cliques => cliques.some(clique => clique.spec.replicas === 0)).length
}

/** The number of scheduled replicas, without those that the operator is about to delete. */
export function scheduledWithout(
  group: StoredScalingGroup,
  cliques: readonly PodClique[],
  deleted: readonly number[],
): number {
  return replicasOf({ group, cliques })
    .entries()
    .filter(
      ([replica, members]) =>
        !deleted.includes(replica) && isComplete(group, members) && members.every(hasEnoughScheduled),
    )
    .toArray().length
}

function conditions(
  input: GroupStatusInput,
  replicas: readonly PodClique[][],
  scheduled: number,
): Condition[] {
  const value = breach(input, replicas, scheduled)
  const withBreach = timedBreach(
    withCondition(input.group.status?.conditions, value, input.now),
    tooFewSince(input.group, replicas),
    input.now,
  )
  const after = withUpdateCondition(withBreach, input)
  const isHealthy = value.status === 'False' && scheduled >= minAvailableOfGroup(input.group.spec)
  const remembers = isHealthy || wasHealthy(input.group)
  const remembered = remembers ? withCondition(after, everHealthy, input.now) : after
  // The mark of a termination is removed once the group has recovered.
  return [
    ...((isHealthy ? withoutCondition(remembered, conditionType.gangTerminationInProgress) : remembered) ??
      []),
  ]
}

function breach(
  input: GroupStatusInput,
  replicas: readonly PodClique[][],
  scheduled: number,
): ConditionValue {
  const { group } = input
  const minAvailable = minAvailableOfGroup(group.spec)
  if (isUpdating(group) && !input.paused) return minAvailableBreached.updateInProgress
  if (scheduled === 0)
    return nothingScheduled({
      of: 'PodCliqueScalingGroup',
      wasScheduled: groupWasScheduled(group, replicas),
      wanted: wantedReplicas(group, replicas),
      minAvailable,
      onTotalLoss: input.onTotalLoss,
    })
  if (scheduled < minAvailable) return minAvailableBreached.scheduledBelowMinimum(scheduled, minAvailable)
  const healthy = replicas.filter(
    cliques => isComplete(group, cliques) && cliques.every(isNotInBreach),
  ).length
  return healthy < minAvailable
    ? minAvailableBreached.tooFewGroupReplicas(healthy, minAvailable)
    : minAvailableBreached.enoughGroupReplicas(healthy, minAvailable)
}

/**
 * The earliest time since which there can have been too few of these replicas without interruption, by the conditions
 * of their cliques.
 */
function tooFewSince({ spec }: PodCliqueScalingGroup, replicas: readonly PodClique[][]): number {
  const beginnings = replicas.flatMap(cliques => {
    const breaches = cliques
      .map(clique => findCondition(clique.status?.conditions, conditionType.minAvailableBreached))
      .filter(condition => condition?.status === 'True')
    return breaches.length ? [Math.min(...breaches.map(one => Date.parse(one!.lastTransitionTime)))] : []
  })
  return nthBeginning(beginnings, spec.replicas - minAvailableOfGroup(spec) + 1)
}

/** Reports whether the group ever was healthy, or any replica of it was scheduled as a whole. */
function groupWasScheduled(group: PodCliqueScalingGroup, replicas: readonly PodClique[][]): boolean {
  return (
    findCondition(group.status?.conditions, conditionType.everHealthy) !== undefined ||
    replicas.some(cliques => isComplete(group, cliques) && cliques.every(wasScheduled))
  )
}

/** A clique without a status counts as unhealthy: it may be the successor of one that was in breach. */
function isNotInBreach(clique: PodClique): boolean {
  const condition = findCondition(clique.status?.conditions, conditionType.minAvailableBreached)
  return condition !== undefined && condition.status !== 'True'
}

/** Reports whether the set waits for this status: the group became available, or all of its replicas did. */
export function isAwaited(
  { spec, status: before }: PodCliqueScalingGroup,
  now: PodCliqueScalingGroupStatus,
): boolean {
  if (endsBreach(before?.conditions, now.conditions)) return true
  return [minAvailableOfGroup(spec), spec.replicas].some(threshold =>
    crosses(threshold, before?.availableReplicas, now.availableReplicas),
  )
}
