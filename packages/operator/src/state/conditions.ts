// SPDX-License-Identifier: Apache-2.0

import { type Condition, type ConditionValue, conditionType } from '@grove/api'
import type { Clock } from '@grove/kube'

type Conditions = readonly Condition[] | undefined

export function findCondition(conditions: Conditions, type: string): Condition | undefined {
  return conditions?.find(condition => condition.type === type)
}

/** Reports whether a breach has ended. Gang termination must know that before its delay is over. */
export function endsBreach(before: Conditions, after: Conditions): boolean {
  const wasBreached = findCondition(before, conditionType.minAvailableBreached)?.status === 'True'
  const isBreached = findCondition(after, conditionType.minAvailableBreached)?.status === 'True'
  const wasWell =
    findCondition(before, conditionType.everScheduled) ?? findCondition(before, conditionType.everHealthy)
  return wasBreached && !isBreached && wasWell !== undefined
}

/**
 * Returns the list with one condition set. The list stays the same if status, reason and message do. The transition
 * time changes only with the status, because timers start from it.
 */
export function withCondition(
  conditions: Conditions,
  value: ConditionValue,
  now: string,
): readonly Condition[] {
  const old = findCondition(conditions, value.type)
  if (old && old.status === value.status && old.reason === value.reason && old.message === value.message)
    return conditions!
  const condition: Condition = {
    ...value,
    lastTransitionTime: old?.status === value.status ? old.lastTransitionTime : now,
  }
  return old
    ? conditions!.map(other => (other.type === value.type ? condition : other))
    : [...(conditions ?? []), condition]
}

/**
 * Limits the age of this condition, if it is True, to the given time. Timers start from its transition time, and it may
 * have been False for a while when the operator was down.
 */
export function noOlderThan(
  conditions: readonly Condition[],
  type: string,
  at: number,
): readonly Condition[] {
  const old = findCondition(conditions, type)
  if (old?.status !== 'True' || !(at > Date.parse(old.lastTransitionTime))) return conditions
  const lastTransitionTime = timestampAt(at)
  return conditions.map(other => (other.type === type ? { ...other, lastTransitionTime } : other))
}

/**
 * Limits the start of this condition to now. An operator whose clock was ahead wrote a later time, and a timer that
 * starts from it would run for too long: docs/decisions/0010-clocks-and-back-off.md.
 */
export function notInFuture(
  conditions: readonly Condition[],
  type: string,
  now: string,
): readonly Condition[] {
  const old = findCondition(conditions, type)
  if (!old || !(Date.parse(old.lastTransitionTime) > Date.parse(now))) return conditions
  return conditions.map(other => (other.type === type ? { ...other, lastTransitionTime: now } : other))
}

/** The n-th earliest of these start times; long ago if there are fewer, or if the time is unknown. */
export function nthBeginning(beginnings: readonly number[], n: number): number {
  return beginnings.toSorted((a, b) => a - b)[n - 1] ?? Number.NEGATIVE_INFINITY
}

export function withoutCondition(conditions: Conditions, type: string): readonly Condition[] | undefined {
  return findCondition(conditions, type)
    ? conditions!.filter(condition => condition.type !== type)
    : conditions
}

/** The time in the format of Kubernetes objects: RFC 3339, whole seconds. */
export function timestamp(clock: Clock): string {
  return timestampAt(clock.now())
}

/** Like `timestamp`, for a time in milliseconds since the epoch. */
export function timestampAt(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
