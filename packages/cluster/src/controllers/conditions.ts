// SPDX-License-Identifier: Apache-2.0

import { timestamp } from './timestamp.ts'

export interface Verdict {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string
}

interface Condition {
  type?: string
  status?: string
  reason?: string
  message?: string
  lastTransitionTime?: string | null
}

/**
 * Sets a condition in the list. lastTransitionTime changes only with the status. Returns the same list if
 * nothing changes.
 */
export function withCondition<C extends Condition>(
  conditions: readonly C[] | undefined,
  verdict: Verdict,
  now: number,
  more: Partial<C> = {},
): readonly C[] {
  const old = conditions ?? []
  const known = old.find(({ type }) => type === verdict.type)
  if (
    known?.status === verdict.status &&
    known.reason === verdict.reason &&
    known.message === verdict.message
  )
    return old
  const lastTransitionTime = known?.status === verdict.status ? known.lastTransitionTime : timestamp(now)
  const condition = { ...verdict, lastTransitionTime, ...more } as Condition as C
  return known ? old.map(each => (each === known ? condition : each)) : [...old, condition]
}

export function withoutCondition<C extends Condition>(
  conditions: readonly C[] | undefined,
  type: string,
): readonly C[] {
  return conditions?.some(condition => condition.type === type)
    ? conditions.filter(condition => condition.type !== type)
    : (conditions ?? [])
}

export function isTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return conditions?.some(condition => condition.type === type && condition.status === 'True') ?? false
}
