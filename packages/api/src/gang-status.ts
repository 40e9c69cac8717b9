// SPDX-License-Identifier: Apache-2.0

// The status of a PodGang, derived from its pods. The gang scheduler writes it for its own gangs, and the operator
// for the gangs of all other schedulers. Both use this code, so that `kubectl get podgangs` means the same with every
// scheduler.
//
// Messages contain no counts that change with every pod: a gang may have a thousand pods, and each change is a write.
import { type ConditionStatus, conditionType } from './conditions.ts'
import type { Condition, Pod } from './kubernetes/index.ts'
import type { PodGang, PodGangStatus, PodGangSummaryPhase } from './types/index.ts'

/** The phases that `status.podGangStatuses` of a PodCliqueSet may contain. A PodGang may have any phase. */
export const podGangSummaryPhases = [
  'Pending',
  'Starting',
  'Running',
  'Failed',
  'Succeeded',
] as const satisfies readonly PodGangSummaryPhase[]

/** Reasons of `Scheduled=False` that are normal while a gang starts. With any other reason, the gang does not fit. */
export const gangWaits = {
  podsNotCreated: 'PodsNotCreated',
  podsGated: 'PodsGated',
  baseGangNotScheduled: 'BaseGangNotScheduled',
  notYetEvaluated: 'NotYetEvaluated',
  binding: 'Binding',
  scaledBelowMinimum: 'ScaledBelowMinimum',
} as const

/** The reason of `Scheduled=False` if the scheduler names no code of its own. */
export const unschedulable = 'Unschedulable'

const normalWaits: ReadonlySet<string> = new Set(Object.values(gangWaits))

/** The condition that reports why a scheduler cannot place the gang; undefined if it can, or has not tried yet. */
export function unschedulableCondition({ status }: PodGang): Condition | undefined {
  const condition = conditionOf(status, conditionType.podGangScheduled)
  return condition?.status === 'False' && !normalWaits.has(condition.reason) ? condition : undefined
}

/** The pods of a gang that count, by the name of their group: neither terminating nor finished. */
export type GangPods = (podGroup: string) => readonly Pod[]

/** A group of a gang, with the number of its pods in each state. */
interface GroupProgress {
  readonly name: string
  readonly minReplicas: number
  readonly bound: number
  readonly running: number
  readonly ready: number
}

export interface GangProgress {
  readonly groups: readonly GroupProgress[]
  /** Every group has its minimum bound to nodes. */
  readonly isBound: boolean
  /** Some pod of the gang is bound. */
  readonly hasBoundPods: boolean
  readonly isRunning: boolean
  readonly isReady: boolean
}

export function gangProgress({ spec }: PodGang, podsOf: GangPods): GangProgress {
  const groups = spec.podgroups.map(({ name, minReplicas }): GroupProgress => {
    const bound = podsOf(name).filter(pod => pod.spec?.nodeName)
    return {
      name,
      minReplicas,
      bound: bound.length,
      running: bound.filter(pod => pod.status?.phase === 'Running').length,
      ready: bound.filter(isReady).length,
    }
  })
  const every = (step: Step) =>
    groups.some(({ minReplicas }) => minReplicas > 0) &&
    groups.every(group => group[step] >= group.minReplicas)
  return {
    groups,
    isBound: every('bound'),
    hasBoundPods: groups.some(({ bound }) => bound > 0),
    isRunning: every('running'),
    isReady: every('ready'),
  }
}

type Step = 'bound' | 'running' | 'ready'

/** Reports whether the gang had its whole minimum bound before, and has not lost all of its pods since. */
export function wasScheduled({ status }: PodGang, { hasBoundPods }: GangProgress): boolean {
  return (
    hasBoundPods &&
    (isTrue(status, conditionType.podGangScheduled) || isTrue(status, conditionType.podGangUnhealthy))
  )
}

/** The cause for which a gang is not scheduled. */
export interface GangWait {
  readonly reason: string
  readonly message: string
}

/**
 * The status of a gang with these pods. `waits` applies if the minimum is not bound. `isBeingBound` is true if the
 * scheduler has started to bind the gang.
 */
export function derivedGangStatus(
  gang: PodGang,
  progress: GangProgress,
  waits: GangWait,
  now: string,
  isBeingBound = false,
): PodGangStatus {
  const { isBound, isRunning } = progress
  if (!isBound)
    return withGangConditions(gang, isBeingBound ? 'Starting' : 'Pending', now, [
      [conditionType.podGangScheduled, 'False', waits.reason, waits.message],
      ready(progress),
      unhealthy(gang, progress),
    ])
  return withGangConditions(gang, isRunning ? 'Running' : 'Starting', now, [
    [
      conditionType.podGangScheduled,
      'True',
      'Bound',
      'at least minReplicas pods of every PodClique are bound to nodes',
    ],
    ready(progress),
    unhealthy(gang, progress),
  ])
}

export type GangCondition = readonly [type: string, status: ConditionStatus, reason: string, message: string]

function ready({ groups, isReady: isTrue }: GangProgress): GangCondition {
  const type = conditionType.podGangReady
  return isTrue
    ? [type, 'True', 'PodsReady', 'at least minReplicas pods of every PodClique are ready']
    : [type, 'False', 'PodsNotReady', `fewer pods than minReplicas are ready: ${lacking(groups, 'ready')}`]
}

export function unhealthy(gang: PodGang, progress: GangProgress): GangCondition {
  const type = conditionType.podGangUnhealthy
  if (progress.isBound)
    return [type, 'False', 'Bound', 'at least minReplicas pods of every PodClique are bound to nodes']
  return wasScheduled(gang, progress)
    ? [
        type,
        'True',
        'BelowMinimum',
        `pods were lost, and fewer than minReplicas are left: ${lacking(progress.groups, 'bound')}`,
      ]
    : [type, 'False', 'NotScheduled', 'the gang has not been scheduled yet']
}

/** Names the groups without their minimum, a few of them. */
function lacking(groups: readonly GroupProgress[], step: Step): string {
  const names = groups.filter(group => group[step] < group.minReplicas)
  const shown = names.slice(0, mostNamed).map(({ name, minReplicas }) => `PodClique ${name} (${minReplicas})`)
  const left = names.length - shown.length
  return [...shown, ...(left > 0 ? [`${left} more`] : [])].join(', ')
}

const mostNamed = 3

/**
 * Keeps the phase valid, and keeps conditions of other writers, above all Initialized. A condition keeps its transition
 * time while its status stays. A False condition keeps it only with the same reason: users and the scheduler read how
 * long a gang waits for it.
 */
export function withGangConditions(
  { metadata, status }: PodGang,
  phase: PodGangStatus['phase'],
  now: string,
  wanted: readonly GangCondition[],
): PodGangStatus {
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
      lastTransitionTime: isSame ? known.lastTransitionTime : now,
    }
  })
  const types = new Set(wanted.map(([type]) => type))
  return { ...status, phase, conditions: [...before.filter(({ type }) => !types.has(type)), ...written] }
}

function isTrue(status: PodGangStatus | undefined, type: string): boolean {
  return conditionOf(status, type)?.status === 'True'
}

function conditionOf(status: PodGangStatus | undefined, type: string): Condition | undefined {
  return status?.conditions?.find(condition => condition.type === type)
}

function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}
