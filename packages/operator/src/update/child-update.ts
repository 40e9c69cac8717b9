// SPDX-License-Identifier: Apache-2.0

// Plans the update of a clique or a scaling group, for either kind of unit.
import type { ConditionValue } from '@grove/api'
import type { StoredSet } from '../layout/stored.ts'
import { isInProgress } from '../state/child-state.ts'
import { timestampAt } from '../state/conditions.ts'
import type { AnyProgress, AnySelection, ProgressFields, UpdateTarget } from './progress.ts'
import { isPaused, stableInMs } from './set-progress.ts'
import { strategyOf } from './strategy.ts'
import { type UnitTerms, unitUpdateCondition } from './unit-messages.ts'
import { planUnitUpdate, retryInMs, type Unit, type UnitUpdatePlan } from './units.ts'

export interface ChildUpdateInput<U extends Unit, P extends AnyProgress, S extends AnySelection<U['id']>> {
  readonly set: StoredSet
  readonly replicas: number
  readonly minAvailable: number
  readonly units: readonly U[]
  readonly before: P | undefined
  readonly fields: ProgressFields<P, S>
  readonly target: UpdateTarget
  readonly terms: UnitTerms
  /** True if the set has selected the replica that the child belongs to. */
  readonly mayUpdate: boolean
  /** Milliseconds since the epoch. */
  readonly now: number
}

export interface ChildUpdate<U extends Unit, P> {
  readonly plan: UnitUpdatePlan<U>
  readonly progress: P | undefined
  /** Undefined while no update is in progress. */
  readonly condition: ConditionValue | undefined
  /** The time until the plan may change without a change in the cluster; 0 if it does not. */
  readonly retryInMs: number
}

export function planChildUpdate<U extends Unit, P extends AnyProgress, S extends AnySelection<U['id']>>(
  input: ChildUpdateInput<U, P, S>,
): ChildUpdate<U, P> {
  const { set, replicas, before, fields, now } = input
  const strategy = strategyOf(set.spec.updateStrategy)
  const isRunning = before !== undefined && isInProgress(before) && strategy.replacesPods
  const selection = isRunning ? fields.selectionOf(before) : undefined
  const plan = planUnitUpdate<U>({
    replicas,
    minAvailable: input.minAvailable,
    units: input.units,
    selection: selection && fields.selectedUnit(selection, replicas),
    paused: isPaused(set),
    stableInMs: stableInMs(set, now),
  })
  const progress = strategy.progress(fields, {
    before,
    target: input.target,
    isUnfinished: plan.kind !== 'finished',
    mayUpdate: input.mayUpdate,
    now: timestampAt(now),
  })
  const isUpdating = isInProgress(progress)
  return {
    plan,
    progress,
    condition: isUpdating ? unitUpdateCondition(plan, replicas, input.terms) : undefined,
    retryInMs: isUpdating ? retryInMs(plan) : 0,
  }
}

/**
 * Remembers the last plan and returns it for a snapshot of the same objects. A reconcile plans before it acts, and
 * again for the status only if something has changed since.
 */
export function planOnce<S, R>(
  objectsOf: (snapshot: S) => readonly unknown[],
  plan: (snapshot: S) => R,
): (snapshot: S) => R {
  let last: { readonly objects: readonly unknown[]; readonly result: R } | undefined
  return snapshot => {
    const objects = objectsOf(snapshot)
    const known = last?.objects
    const isKnown = known?.length === objects.length && objects.every((object, at) => object === known[at])
    if (!last || !isKnown) last = { objects, result: plan(snapshot) }
    return last.result
  }
}
