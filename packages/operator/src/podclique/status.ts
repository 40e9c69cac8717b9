// SPDX-License-Identifier: Apache-2.0

// The status of a PodClique, computed from its pods. Terminating and finished pods count nowhere.
import {
  type Condition,
  type ConditionValue,
  conditionType,
  events,
  everScheduled,
  label,
  minAvailableBreached,
  type Pod,
  type PodCliqueStatus,
  podCliqueScheduled,
  podSelector,
  podsFailing,
} from '@grove/api'
import { type CliqueInstance, minAvailableOfClique } from '../layout/layout.ts'
import type { StoredClique } from '../layout/stored.ts'
import { nothingScheduled, timedBreach, wasScheduled } from '../state/breach-condition.ts'
import { isUpdating } from '../state/child-state.ts'
import { endsBreach, findCondition, nthBeginning, withCondition } from '../state/conditions.ts'
import {
  isActive,
  isReady,
  isScheduled,
  isScheduleGated,
  isUseless,
  notReadySince,
  templateHashOf,
} from '../state/pod-state.ts'
import {
  type ChildStatusInput,
  type ChildStatusPlan,
  crosses,
  withUpdateCondition,
} from '../state/status-plan.ts'
import { describeFailures } from './back-off.ts'

export interface CliqueStatusInput extends ChildStatusInput {
  readonly clique: StoredClique
  readonly pods: readonly Pod[]
  /** Revision of the template with which the clique was last written. */
  readonly podTemplateHash: string
  readonly generationHash: string | undefined
  isCurrent(hash: string): boolean
}

export type CliqueStatusPlan = ChildStatusPlan<PodCliqueStatus>

export function planCliqueStatus(input: CliqueStatusInput): CliqueStatusPlan {
  const { clique, isCurrent } = input
  const before = clique.status
  const active = input.pods.filter(isActive)
  const count = (test: (pod: Pod) => boolean): number => active.filter(test).length
  const scheduled = count(isScheduled)
  const updated = count(pod => isCurrent(templateHashOf(pod) ?? ''))
  const replicas = active.length

  const status: PodCliqueStatus = {
    ...before,
    observedGeneration: clique.metadata.generation,
    replicas,
    readyReplicas: count(isReady),
    scheduledReplicas: scheduled,
    scheduleGatedReplicas: count(isScheduleGated),
    updatedReplicas: updated,
    ...(!clique.metadata.labels?.[label.scalingGroup] && {
      hpaPodSelector: podSelector.ofClique(input.set, clique.metadata.name),
    }),
    ...(!isUpdating(clique) &&
      updated === replicas && {
        currentPodTemplateHash: input.podTemplateHash,
        ...(input.generationHash && { currentPodCliqueSetGenerationHash: input.generationHash }),
      }),
  }
  const isKept = clique.spec.replicas > 0 && !input.isLeaving
  const lost = isKept && (before?.scheduledReplicas ?? 0) > 0 && scheduled === 0
  return {
    status: { ...status, conditions: conditions(input, scheduled, active) },
    events: lost ? [events.allPodsLost(before!.scheduledReplicas, input.onTotalLoss === 'Recreate')] : [],
  }
}

function conditions(input: CliqueStatusInput, scheduled: number, active: readonly Pod[]): Condition[] {
  const minAvailable = minAvailableOfClique(input.clique)
  const before = input.clique.status?.conditions
  const withScheduled = withCondition(before, podCliqueScheduled(minAvailable, scheduled), input.now)
  const withBreach = timedBreach(
    withCondition(withScheduled, breach(input, minAvailable, scheduled, active), input.now),
    tooFewSince(active, scheduled, minAvailable),
    input.now,
  )
  const failing = withFailures(withUpdateCondition(withBreach, input), input)
  const remembers = scheduled >= minAvailable || wasScheduled(input.clique)
  return [...(remembers ? withCondition(failing, everScheduled, input.now) : failing)]
}

/** Adds the condition about pods that fail repeatedly; adds nothing for a clique whose pods never failed. */
function withFailures(conditions: readonly Condition[], input: CliqueStatusInput): readonly Condition[] {
  const message = describeFailures(input.pods, input.isCurrent, Date.parse(input.now))
  if (message !== undefined) return withCondition(conditions, podsFailing.backOff(message), input.now)
  return findCondition(conditions, conditionType.podsFailing)
    ? withCondition(conditions, podsFailing.recovered, input.now)
    : conditions
}

function breach(
  input: CliqueStatusInput,
  minAvailable: number,
  scheduled: number,
  active: readonly Pod[],
): ConditionValue {
  if (isUpdating(input.clique) && !input.paused) return minAvailableBreached.updateInProgress
  if (scheduled === 0)
    return nothingScheduled({
      of: 'PodClique',
      wasScheduled: wasScheduled(input.clique),
      wanted: input.clique.spec.replicas,
      minAvailable,
      onTotalLoss: input.onTotalLoss,
    })
  if (scheduled < minAvailable) return minAvailableBreached.scheduledBelowMinimum(scheduled, minAvailable)
  const alive = scheduled - active.filter(isUseless).length
  return alive < minAvailable
    ? minAvailableBreached.tooFewPods(minAvailable, alive)
    : minAvailableBreached.enoughPods(minAvailable, alive)
}

/** The earliest time since which there can have been too few of these pods without interruption. */
function tooFewSince(active: readonly Pod[], scheduled: number, minAvailable: number): number {
  return nthBeginning(active.filter(isUseless).map(notReadySince), scheduled - minAvailable + 1)
}

interface FollowedClique {
  readonly clique: StoredClique
  readonly instance: CliqueInstance
  /** True if cliques of scaled gangs wait for this one to be scheduled. */
  readonly hasFollowers: boolean
}

/**
 * Reports whether other objects wait for this status: because the clique is available, or because gangs depend on it.
 */
export function isAwaited(
  { clique, instance, hasFollowers }: FollowedClique,
  status: PodCliqueStatus,
): boolean {
  const minimum = minAvailableOfClique(clique)
  const before = clique.status
  if (endsBreach(before?.conditions, status.conditions)) return true
  if (crosses(minimum, before?.readyReplicas, status.readyReplicas)) return true
  if (crosses(clique.spec.replicas, before?.readyReplicas, status.readyReplicas)) return true
  return (
    !instance.basePodGang &&
    hasFollowers &&
    crosses(minimum, before?.scheduledReplicas, status.scheduledReplicas)
  )
}
