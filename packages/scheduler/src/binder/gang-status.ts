// SPDX-License-Identifier: Apache-2.0

// The status of a PodGang of this scheduler: what its pods say, and the decision about a gang that waits. Pure.
import {
  conditionType,
  derivedGangStatus,
  type GangProgress,
  gangProgress,
  gangWaits,
  type Pod,
  type PodGang,
  type PodGangStatus,
  unhealthy,
  wasScheduled,
  withGangConditions,
} from '@grove/api'
import type { GangDecision } from '../types.ts'

/** The pods of a gang that count: live, of this scheduler, by group. */
export type Members = ReadonlyMap<string, readonly Pod[]>

export function progressOf(gang: PodGang, members: Members): GangProgress {
  return gangProgress(gang, name => members.get(name) ?? [])
}

/** Reports whether an attempt to bind the gang for the first time has begun and is not complete. */
function isStarting(gang: PodGang): boolean {
  return gang.status?.phase === 'Starting' && scheduledCondition(gang)?.status !== 'True'
}

/**
 * The gang as the status functions see it. A gang without the condition Scheduled and with bound pods has lost its status,
 * for example because the PodGang was recreated: its pods may serve users, so it counts as scheduled before.
 */
export function withHistory(gang: PodGang, { hasBoundPods }: GangProgress): PodGang {
  if (!hasBoundPods || scheduledCondition(gang)) return gang
  const lastTransitionTime = timestamp(0)
  const scheduled = {
    type: conditionType.podGangScheduled,
    status: 'True' as const,
    reason: 'Bound',
    message: '',
    lastTransitionTime,
  }
  const conditions = [...(gang.status?.conditions ?? []), scheduled]
  return { ...gang, status: { phase: 'Pending', ...gang.status, conditions } }
}

/** The status to write before the first pod is bound. It is the only durable record of an attempt. */
export function bindingStatus(
  gang: PodGang,
  progress: GangProgress,
  pods: number,
  now: number,
): PodGangStatus {
  const known = withHistory(gang, progress)
  // Pods of a gang that was scheduled before are never released.
  return withGangConditions(known, wasScheduled(known, progress) ? 'Pending' : 'Starting', timestamp(now), [
    [conditionType.podGangScheduled, 'False', gangWaits.binding, `binding ${pods} pods`],
    unhealthy(known, progress),
  ])
}

/** The status of a gang that is not being bound at the moment. */
export function gangStatus(
  gang: PodGang,
  progress: GangProgress,
  decision: GangDecision | undefined,
  now: number,
  /** Name of the PodGang that pods of this one are evicted for. */
  preemptor?: string,
): PodGangStatus {
  const explanation = decision?.explanation
  const status = derivedGangStatus(
    withHistory(gang, progress),
    progress,
    {
      reason: explanation?.code ?? gangWaits.notYetEvaluated,
      message: explanation?.message ?? 'the scheduler has not evaluated the gang yet',
    },
    timestamp(now),
    progress.hasBoundPods && isStarting(gang),
  )
  const score = decision?.placementScore
  const marked = withDisruption(gang, status, progress, preemptor, now)
  return progress.isBound && score !== undefined ? { ...marked, placementScore: score } : marked
}

/** Marks a gang whose pods are evicted for another gang. The condition stays until the gang is bound again. */
function withDisruption(
  { metadata }: PodGang,
  status: PodGangStatus,
  { isBound }: GangProgress,
  preemptor: string | undefined,
  now: number,
): PodGangStatus {
  const type = conditionType.podGangDisruptionTarget
  const conditions = status.conditions ?? []
  const known = conditions.find(condition => condition.type === type)
  const value = preemptor ? 'True' : 'False'
  if (!preemptor && !(known?.status === 'True' && isBound)) return status
  const condition = {
    type,
    status: value,
    reason: preemptor ? 'PreemptionByScheduler' : 'Bound',
    message: preemptor ? `pods are evicted for PodGang ${preemptor}` : 'no pod is being evicted',
    observedGeneration: metadata.generation ?? 1,
    lastTransitionTime: known?.status === value ? known.lastTransitionTime : timestamp(now),
  } as const
  return { ...status, conditions: [...conditions.filter(other => other !== known), condition] }
}

export function scheduledCondition({ status }: PodGang) {
  return status?.conditions?.find(({ type }) => type === conditionType.podGangScheduled)
}

/** RFC 3339, whole seconds. */
export function timestamp(now: number): string {
  return `${new Date(now).toISOString().slice(0, 19)}Z`
}
