// SPDX-License-Identifier: Apache-2.0

import { type Condition, type ConditionValue, conditionType } from '@grove/api'

type Conditions = readonly Condition[] | undefined

export function findCondition(conditions: Conditions, type: string): Condition | undefined {
  return conditions?.find(condition => condition.type === type)
}

/** Whether a breach is over that gang termination counts from: that must be known before its time runs out. */
export function endsBreach(before: Conditions, after: Conditions): boolean {
  const wasBreached = findCondition(before, conditionType.minAvailableBreached)?.status === 'True'
  const isBreached = findCondition(after, conditionType.minAvailableBreached)?.status === 'True'
  const wasWell =
    findCondition(before, conditionType.everScheduled) ?? findCondition(before, conditionType.everHealthy)
  return wasBreached && !isBreached && wasWell !== undefined
}

/**
 * The list with one condition set. Nothing changes when status, reason and message are the same; the time of
 * transition changes only with the status, because timers count from it.
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

export function withoutCondition(conditions: Conditions, type: string): readonly Condition[] | undefined {
  return findCondition(conditions, type)
    ? conditions!.filter(condition => condition.type !== type)
    : conditions
}
