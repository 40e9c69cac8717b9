// SPDX-License-Identifier: Apache-2.0

// Status planning that cliques and scaling groups share.
import { type Condition, type ConditionValue, conditionType, type EventValue } from '@grove/api'
import type { OnTotalLoss } from './breach-condition.ts'
import { withCondition, withoutCondition } from './conditions.ts'

export interface ChildStatusInput {
  /** The name of the set. */
  readonly set: string
  readonly onTotalLoss: OnTotalLoss
  /** True if the operator is deleting the replica of the set: its pods are not reported as lost. */
  readonly isLeaving: boolean
  /** The condition UpdateProgressing; undefined while no update is in progress. */
  readonly update: ConditionValue | undefined
  /** True if updates of the set are paused: a paused update does not disable gang termination. */
  readonly paused: boolean
  /** RFC 3339, whole seconds. */
  readonly now: string
}

export interface ChildStatusPlan<S> {
  readonly status: S
  readonly events: readonly EventValue[]
}

/** Reports whether a count has reached a threshold or has fallen below it. */
export function crosses(threshold: number, before: number | undefined, now: number): boolean {
  const wasReached = (before ?? 0) >= threshold
  const isReached = now >= threshold
  return wasReached !== isReached
}

/** The list with the condition UpdateProgressing while an update is in progress, and without it otherwise. */
export function withUpdateCondition(
  conditions: readonly Condition[],
  { update, now }: ChildStatusInput,
): readonly Condition[] {
  return update
    ? withCondition(conditions, update, now)
    : (withoutCondition(conditions, conditionType.updateProgressing) ?? [])
}
