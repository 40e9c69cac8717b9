// SPDX-License-Identifier: Apache-2.0

// Computes why a set is not available: root causes first, and each of them once.
import type { Condition, Pod, PodClique, PodCliqueScalingGroup } from '@grove/api'
import { conditionType, label } from '@grove/api/constants'
import { type CountedWait, countedWaits, dependentWaits } from './pod-waits.ts'
import type { SetObjects } from './set-model.ts'
import { troublesOf } from './troubles.ts'

export interface Cause {
  /** One word in CamelCase. */
  readonly reason: string
  readonly message: string
  /** The objects that report it. */
  readonly objects: readonly CauseObject[]
  /** Number of pods that are not ready because of it. */
  readonly pods: number
  /** The earliest time at which an object reported it. */
  readonly since?: string
}

export interface CauseObject {
  readonly kind: 'PodCliqueSet' | 'PodCliqueScalingGroup' | 'PodClique' | 'PodGang'
  readonly name: string
}

/** Errors, then root causes, then conditions, then parts that wait for other parts, then parts that are starting. */
const rank = { error: 0, root: 1, condition: 2, dependent: 3, transient: 4 } as const

/** Waits and conditions that end without action by a user. The gang scheduler binds pods for less than a second. */
const transient: ReadonlySet<string> = new Set(['NotScheduled', 'Starting', 'Terminating', 'Binding'])
const dependentGangs: ReadonlySet<string> = new Set(['BaseGangNotScheduled', 'PodsGated', 'PodsNotCreated'])

export function causesOf(objects: SetObjects): Cause[] {
  const causes = new Causes()
  addErrors(causes, objects)
  addGangs(causes, objects)
  addPods(causes, objects)
  addConditions(causes, objects)
  return withSetConditions(causes.sorted(), objects.set)
}

/**
 * The cause of the condition Stalled comes first. The objects that it names usually report the same cause. A set that
 * is unavailable without any other cause has the cause of its condition Available.
 */
function withSetConditions(causes: readonly Cause[], { metadata, status }: SetObjects['set']): Cause[] {
  const stalled = conditionOf(status?.conditions, conditionType.stalled, 'True')
  const unavailable = conditionOf(status?.conditions, conditionType.available, 'False')
  const setCause = ({ reason, message, lastTransitionTime }: Condition): Cause => ({
    reason,
    message,
    objects: [{ kind: 'PodCliqueSet', name: metadata.name ?? '' }],
    pods: 0,
    since: lastTransitionTime,
  })
  if (!stalled) return causes.length === 0 && unavailable ? [setCause(unavailable)] : [...causes]
  const first = causes.find(cause => isNamedIn(cause, stalled.message)) ?? setCause(stalled)
  return [first, ...causes.filter(cause => cause !== first)]
}

/**
 * Errors of the set itself are repeated without its name. The message of a gang may be newer than that of the set, with
 * other numbers.
 */
function isNamedIn({ message, objects }: Cause, text: string): boolean {
  return objects.some(({ kind, name }) => {
    if (kind === 'PodGang')
      return text.startsWith('PodGang ') && text.includes(`/${name} cannot be scheduled`)
    return message !== '' && text.includes(message) && (kind === 'PodCliqueSet' || text.includes(name))
  })
}

/** Objects that were scaled below minAvailable. Only scaling out ends this state. */
export function scaledBelowMinimum({ groups, cliques }: SetObjects) {
  const below = (kind: CauseObject['kind'], objects: readonly (PodClique | PodCliqueScalingGroup)[]) =>
    objects.flatMap(({ metadata, spec }) => {
      const { replicas, minAvailable = 0 } = spec
      return replicas < minAvailable ? [{ kind, name: metadata.name ?? '', replicas, minAvailable }] : []
    })
  return [...below('PodCliqueScalingGroup', groups), ...below('PodClique', cliques)]
}

function addErrors(causes: Causes, objects: SetObjects): void {
  for (const { object, status } of statusesOf(objects))
    for (const { code, description } of status?.lastErrors ?? [])
      causes.add(rank.error, { reason: code, message: description, object })
  for (const { kind, name, replicas, minAvailable } of scaledBelowMinimum(objects))
    causes.add(rank.error, {
      reason: 'ScaledBelowMinAvailable',
      message: `scaled to ${replicas}, below its minAvailable ${minAvailable}`,
      object: { kind, name },
    })
}

/** A gang that is not scheduled is the cause for all of its pods that have no node. */
function addGangs(causes: Causes, { gangs, pods }: SetObjects): void {
  const podsOf = Map.groupBy(pods.filter(waitsForNode), gangOf)
  for (const { metadata, status } of gangs) {
    const condition = notScheduled(status?.conditions)
    if (!condition) continue
    const { reason } = condition
    causes.add(rankOf(reason), {
      reason,
      message: gangMessage(condition),
      object: { kind: 'PodGang', name: metadata.name ?? '' },
      pods: podsOf.get(metadata.name ?? '')?.length ?? 0,
      since: condition.lastTransitionTime,
    })
  }
}

/** Omits the cause of the base gang, which has its own line. */
function gangMessage({ reason, message }: Condition): string {
  return dependentGangs.has(reason) ? message.split(': ')[0]! : message
}

/** The reasons of pods that no gang explains, by clique. */
function addPods(causes: Causes, objects: SetObjects): void {
  const explained = new Set(
    objects.gangs.flatMap(({ metadata, status }) =>
      notScheduled(status?.conditions) ? [metadata.name] : [],
    ),
  )
  const others = objects.pods.filter(pod => !(waitsForNode(pod) && explained.has(gangOf(pod))))
  for (const { clique, waits } of waitsByClique({ ...objects, pods: others }))
    for (const wait of waits)
      causes.add(rankOf(wait.reason), {
        reason: wait.reason,
        message: wait.detail ?? wait.text,
        object: { kind: 'PodClique', name: clique },
        pods: wait.pods,
      })
}

function addConditions(causes: Causes, objects: SetObjects): void {
  const withWaits = new Set(waitsByClique(objects).map(({ clique }) => clique))
  for (const { object, status } of statusesOf(objects))
    for (const { type, status: state, reason, message, lastTransitionTime } of troublesOf(
      status?.conditions,
    )) {
      if (type === conditionType.podGangScheduled || type === conditionType.stalled) continue
      // The reasons of the pods are more precise.
      if (type === conditionType.podCliqueScheduled && withWaits.has(object.name)) continue
      causes.add(state === 'Unknown' ? rank.transient : rank.condition, {
        reason: `${type} ${reason}`,
        message,
        object,
        since: lastTransitionTime,
        isAlike: true,
      })
    }
}

/** Reasons why pods are not ready, by clique. */
export function waitsByClique({ cliques, pods }: SetObjects): {
  readonly clique: string
  readonly waits: readonly CountedWait[]
}[] {
  const byName = new Map(cliques.map(clique => [clique.metadata.name ?? '', clique]))
  const podsOf = Map.groupBy(pods, pod => pod.metadata.labels?.[label.podClique] ?? '')
  return [...byName.keys()].sort().flatMap(clique => {
    const waits = countedWaits(podsOf.get(clique) ?? [], byName)
    return waits.length > 0 ? [{ clique, waits }] : []
  })
}

interface Finding {
  readonly reason: string
  readonly message: string
  readonly object: CauseObject
  readonly pods?: number
  readonly since?: string
  /** Objects with the same reason share one cause although their messages differ, such as in a count. */
  readonly isAlike?: boolean
}

class Causes {
  readonly #causes = new Map<string, Cause & { readonly rank: number }>()

  add(rank: number, { reason, message, object, pods = 0, since, isAlike }: Finding): void {
    const key = JSON.stringify([object.kind, reason, isAlike ? '' : message])
    const before = this.#causes.get(key)
    const times = [before?.since, since].filter(time => time !== undefined).sort()
    this.#causes.set(key, {
      reason,
      message: before?.message ?? message,
      objects: [...(before?.objects ?? []), object],
      pods: (before?.pods ?? 0) + pods,
      ...(times[0] !== undefined && { since: times[0] }),
      rank,
    })
  }

  sorted(): Cause[] {
    return [...this.#causes.values()]
      .sort((a, b) => a.rank - b.rank || b.pods - a.pods)
      .map(({ rank: _, ...cause }) => cause)
  }
}

/** Reports whether a gang waits for its own reason, not for another gang and not only for a moment. */
export function isRootCause({ reason }: Condition): boolean {
  return rankOf(reason) === rank.root
}

/** Reports whether pods find no nodes, which a user must change. */
export function isUnschedulable({ reason, objects: [first] }: Cause): boolean {
  return rankOf(reason) === rank.root && (first?.kind === 'PodGang' || reason === 'Unschedulable')
}

function rankOf(reason: string): number {
  if (transient.has(reason)) return rank.transient
  return dependentWaits.has(reason) || dependentGangs.has(reason) ? rank.dependent : rank.root
}

function statusesOf({ set, groups, cliques, gangs }: SetObjects) {
  const named = <S>(
    kind: CauseObject['kind'],
    { metadata, status }: { metadata: { name?: string }; status?: S },
  ) => ({
    object: { kind, name: metadata.name ?? '' },
    status,
  })
  return [
    named('PodCliqueSet', set),
    ...groups.map(group => named('PodCliqueScalingGroup', group)),
    ...cliques.map(clique => named('PodClique', clique)),
    ...gangs.map(gang => named('PodGang', { ...gang, status: { lastErrors: [], ...gang.status } })),
  ]
}

function notScheduled(conditions: readonly Condition[] | undefined): Condition | undefined {
  return conditionOf(conditions, conditionType.podGangScheduled, 'False')
}

export function conditionOf(
  conditions: readonly Condition[] | undefined,
  type: string,
  status: Condition['status'],
): Condition | undefined {
  return conditions?.find(condition => condition.type === type && condition.status === status)
}

function waitsForNode({ metadata, spec }: Pod): boolean {
  return !spec?.nodeName && metadata.deletionTimestamp === undefined
}

function gangOf({ metadata }: Pod): string {
  return metadata.labels?.[label.podGang] ?? ''
}
