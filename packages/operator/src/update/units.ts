// SPDX-License-Identifier: Apache-2.0

// Plans the replacement of outdated units. A unit is a pod of a standalone clique or a replica of a scaling group.
//
// 1. Outdated units that do not serve are replaced at once, because nothing is lost with them.
// 2. Outdated units that serve are replaced one at a time. The next one follows when the unit with the same index serves
//    again. The planner waits for an index and not for a count, so an unrelated loss does not stop the update.
// 3. More replicas than minAvailable: at least minAvailable units keep serving. No more than minAvailable: the update has
//    to go below it by one unit, and does so only while all units serve.

export interface Unit {
  /** Identifies the unit in the status: the name of a pod, the index of a group replica. */
  readonly id: string | number
  /** The unit that replaces this one has the same index. Undefined for pods without an index in their hostname. */
  readonly index: number | undefined
  readonly outdated: boolean
  readonly serving: boolean
  /** Milliseconds since the epoch. Units of the same age are replaced in the order of their indexes. */
  readonly createdAt: number
}

export interface UnitSelection<Id extends Unit['id']> {
  readonly current: Id
  /** Undefined in a selection that another operator wrote. */
  readonly currentIndex?: number | undefined
}

export interface UnitUpdateInput<U extends Unit> {
  readonly replicas: number
  readonly minAvailable: number
  /** Units that are not terminating. A finished pod is neither outdated nor serving: it only keeps its index. */
  readonly units: readonly U[]
  /** The serving unit that was selected last in this update. */
  readonly selection: UnitSelection<U['id']> | undefined
  readonly paused: boolean
  /**
   * Time until units that are still starting may be replaced; 0 if they may be replaced now. A burst of edits ends
   * within this time.
   */
  readonly stableInMs: number
}

export type UnitUpdatePlan<U extends Unit> =
  /** No outdated unit is left, and the unit that was replaced last serves again. */
  | { readonly kind: 'finished' }
  /** Replace these units, none of which serves. */
  | { readonly kind: 'discard'; readonly units: readonly U[] }
  /** Replace this serving unit. */
  | { readonly kind: 'replace'; readonly unit: U }
  | UnitUpdateWait<U>

export type UnitUpdateWait<U extends Unit> =
  | { readonly kind: 'wait'; readonly reason: 'paused' }
  /** The template changed a moment ago, and these units are still starting. */
  | {
      readonly kind: 'wait'
      readonly reason: 'unstable'
      readonly units: readonly U[]
      readonly retryInMs: number
    }
  /** The unit that replaces the last one does not serve yet. */
  | { readonly kind: 'wait'; readonly reason: 'not-back'; readonly index: number }
  /** Replacing a serving unit would violate minAvailable. */
  | { readonly kind: 'wait'; readonly reason: 'budget'; readonly serving: number; readonly needed: number }

export function planUnitUpdate<U extends Unit>(input: UnitUpdateInput<U>): UnitUpdatePlan<U> {
  const { replicas, minAvailable, units, selection } = input
  const outdated = units.filter(unit => unit.outdated)
  // A selected unit that still exists was not deleted: the operator that selected it stopped before it could.
  const selected = outdated.find(unit => unit.id === selection?.current)
  const awaited = selected ? undefined : awaitedIndex(input)
  if (outdated.length === 0) return awaited === undefined ? { kind: 'finished' } : notBack(awaited)
  if (input.paused) return { kind: 'wait', reason: 'paused' }

  const idle = outdated.filter(unit => !unit.serving)
  if (idle.length)
    return input.stableInMs <= 0
      ? { kind: 'discard', units: idle }
      : { kind: 'wait', reason: 'unstable', units: idle, retryInMs: input.stableInMs }
  if (awaited !== undefined) return notBack(awaited)
  const serving = units.filter(unit => unit.serving).length
  const isWithinBudget = replicas > minAvailable ? serving > minAvailable : serving >= replicas
  if (!isWithinBudget)
    return { kind: 'wait', reason: 'budget', serving, needed: Math.min(minAvailable, replicas) }
  return { kind: 'replace', unit: selected ?? outdated.reduce(firstToReplace) }
}

/** The time until the plan may change without a change in the cluster; 0 if it does not. */
export function retryInMs<U extends Unit>(plan: UnitUpdatePlan<U>): number {
  return plan.kind === 'wait' && plan.reason === 'unstable' ? plan.retryInMs : 0
}

/**
 * The index of the replaced unit while no unit of that index serves. Without any unit of the index, the update waits
 * only while units are missing: after a scale-in the index may never be used again.
 */
function awaitedIndex<U extends Unit>({
  selection,
  units,
  replicas,
}: UnitUpdateInput<U>): number | undefined {
  const index = selection?.currentIndex
  if (index === undefined) return undefined
  const holders = units.filter(unit => unit.index === index)
  const isBack = holders.length ? holders.some(unit => unit.serving) : units.length >= replicas
  return isBack ? undefined : index
}

function notBack(index: number) {
  return { kind: 'wait', reason: 'not-back', index } as const
}

function firstToReplace<U extends Unit>(a: U, b: U): U {
  return (a.createdAt - b.createdAt || (a.index ?? 0) - (b.index ?? 0)) <= 0 ? a : b
}
