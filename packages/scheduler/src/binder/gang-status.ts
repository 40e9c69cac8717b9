// SPDX-License-Identifier: Apache-2.0

// The status of a PodGang, from the pods that are really bound and the decision about the rest. Pure.
import {
  type Condition,
  type ConditionStatus,
  conditionType,
  type Pod,
  type PodGang,
  type PodGangStatus,
} from '@grove/api'
import type { GangDecision } from '../types.ts'

/** The pods of a gang that count: live, of this scheduler, by group. */
export type Members = ReadonlyMap<string, readonly Pod[]>

export interface GangProgress {
  /** Every group has its minimum bound. */
  readonly isBound: boolean
  /** Some pod of the gang is bound. */
  readonly hasBoundPods: boolean
  readonly isRunning: boolean
  readonly isReady: boolean
  readonly bound: number
  readonly ready: number
  readonly minimum: number
}

export function progressOf({ spec }: PodGang, members: Members): GangProgress {
  const groups = spec.podgroups.map(({ name, minReplicas }) => {
    const bound = (members.get(name) ?? []).filter(pod => pod.spec.nodeName)
    return {
      minReplicas,
      bound: bound.length,
      running: bound.filter(pod => pod.status?.phase === 'Running').length,
      ready: bound.filter(isReady).length,
    }
  })
  const every = (count: 'bound' | 'running' | 'ready') =>
    groups.every(group => group[count] >= group.minReplicas)
  const sum = (count: 'bound' | 'ready' | 'minReplicas') =>
    groups.reduce((total, group) => total + group[count], 0)
  return {
    isBound: every('bound'),
    hasBoundPods: sum('bound') > 0,
    isRunning: every('running'),
    isReady: every('ready'),
    bound: sum('bound'),
    ready: sum('ready'),
    minimum: sum('minReplicas'),
  }
}

/** Reports whether the gang had its whole minimum bound before, and has not lost all of its pods since. */
export function wasScheduled({ status }: PodGang, { hasBoundPods }: GangProgress): boolean {
  return (
    hasBoundPods &&
    (isTrue(status, conditionType.podGangScheduled) || isTrue(status, conditionType.podGangUnhealthy))
  )
}

/** Reports whether an attempt to bind the gang for the first time has begun and is not complete. */
export function isStarting({ status }: PodGang): boolean {
  return status?.phase === 'Starting' && !isTrue(status, conditionType.podGangScheduled)
}

/** When the attempt began, in milliseconds since 1970. */
export function startedAt({ status }: PodGang): number | undefined {
  const condition = status?.conditions?.find(({ type }) => type === conditionType.podGangScheduled)
  return condition?.reason === bindingReason ? Date.parse(condition.lastTransitionTime) : undefined
}

export const bindingReason = 'Binding'

/** The status to write before the first pod is bound. It is the only durable record of an attempt. */
export function bindingStatus(
  gang: PodGang,
  progress: GangProgress,
  pods: number,
  now: number,
): PodGangStatus {
  const isRepair = wasScheduled(gang, progress)
  return withConditions(gang, isRepair ? (gang.status?.phase ?? 'Running') : 'Starting', now, [
    [conditionType.podGangScheduled, 'False', bindingReason, `binding ${pods} pods`],
    ...(isRepair ? unhealthy(progress) : []),
  ])
}

/** The status of a gang that is not being bound at the moment. */
export function gangStatus(
  gang: PodGang,
  progress: GangProgress,
  decision: GangDecision | undefined,
  now: number,
): PodGangStatus {
  const { isBound, isRunning, isReady, bound, minimum, ready } = progress
  if (isBound && minimum > 0) {
    const score = decision?.placementScore ?? gang.status?.placementScore
    return {
      ...withConditions(gang, isRunning ? 'Running' : 'Starting', now, [
        [
          conditionType.podGangScheduled,
          'True',
          'Bound',
          `${bound} pods are bound; the minimum is ${minimum}`,
        ],
        [
          conditionType.podGangReady,
          isReady ? 'True' : 'False',
          isReady ? 'PodsReady' : 'PodsNotReady',
          `${ready} pods are ready; the minimum is ${minimum}`,
        ],
        [conditionType.podGangUnhealthy, 'False', 'Bound', 'the minimum of every group is bound'],
      ]),
      ...(score !== undefined && { placementScore: score }),
    }
  }
  const isRepair = wasScheduled(gang, progress)
  const explanation = decision?.explanation
  return withConditions(gang, isRepair ? (gang.status?.phase ?? 'Running') : phaseOf(gang, progress), now, [
    [
      conditionType.podGangScheduled,
      'False',
      explanation?.code ?? 'NotYetEvaluated',
      explanation?.message ?? 'the scheduler has not evaluated the gang yet',
    ],
    [
      conditionType.podGangReady,
      'False',
      'PodsNotReady',
      `${ready} pods are ready; the minimum is ${minimum}`,
    ],
    ...(isRepair ? unhealthy(progress) : []),
  ])
}

function phaseOf(gang: PodGang, { hasBoundPods }: GangProgress): PodGangStatus['phase'] {
  return hasBoundPods && isStarting(gang) ? 'Starting' : 'Pending'
}

type Wanted = readonly [type: string, status: ConditionStatus, reason: string, message: string]

function unhealthy({ bound, minimum }: GangProgress): readonly Wanted[] {
  const message = `pods were lost: ${bound} pods are bound; the minimum is ${minimum}`
  return [[conditionType.podGangUnhealthy, 'True', 'BelowMinimum', message]]
}

/** Keeps conditions of others, above all Initialized. A condition keeps its time while its status stays. */
function withConditions(
  { metadata, status }: PodGang,
  phase: PodGangStatus['phase'],
  now: number,
  wanted: readonly Wanted[],
): PodGangStatus {
  const time = `${new Date(now).toISOString().slice(0, 19)}Z`
  const before = status?.conditions ?? []
  const written = wanted.map(([type, value, reason, message]): Condition => {
    const known = before.find(condition => condition.type === type)
    const isSame = known?.status === value && (value === 'True' || known.reason === reason)
    return {
      type,
      status: value,
      reason,
      message,
      observedGeneration: metadata.generation ?? 1,
      lastTransitionTime: isSame ? known.lastTransitionTime : time,
    } as Condition
  })
  const types = new Set(wanted.map(([type]) => type))
  return { ...status, phase, conditions: [...before.filter(({ type }) => !types.has(type)), ...written] }
}

function isTrue(status: PodGangStatus | undefined, type: string): boolean {
  return (
    status?.conditions?.some(condition => condition.type === type && condition.status === 'True') ?? false
  )
}

function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}
