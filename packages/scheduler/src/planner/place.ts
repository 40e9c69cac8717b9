// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import { compareText } from '../order.ts'
import {
  type Assignment,
  type Budget,
  confine,
  type DemandScope,
  feasibility,
  type NodeMask,
  solve,
} from '../solver/index.ts'
import type { SnapshotPod } from '../types.ts'
import {
  type GangDemand,
  type GangTask,
  gangDemand,
  minimumChoices,
  preferringScopes,
  type Widening,
} from './gang-demand.ts'
import { inReplicas } from './replica-domain.ts'
import type { Scope } from './scopes.ts'
import { placementScore, quality } from './score.ts'

export interface PlacedPod {
  readonly pod: SnapshotPod
  readonly group: number
  readonly node: number
}

export type Placement = readonly PlacedPod[]

export type PlaceOutcome =
  | {
      readonly kind: 'placed'
      /** One placement for each task: the gang, then the others. */
      readonly placements: readonly Placement[]
      readonly score: number
      /** No placement has a higher score. */
      readonly best: boolean
    }
  | { readonly kind: 'impossible' }
  | { readonly kind: 'unknown' }

type Placed = PlaceOutcome & { kind: 'placed' }

/** At most this many combinations of widenings are compared; beyond it the choice is not proved to be the best. */
const mostCombinations = 4096

/**
 * Places the minimum of a gang with the highest placementScore. The others must fit at the same time, with their
 * required levels only.
 */
export function placeBest(
  model: Model,
  task: GangTask,
  others: readonly GangTask[],
  budget: Budget,
): PlaceOutcome {
  const scopes = preferringScopes(task)
  const attempt = (widening: Widening | undefined) => placeWith(model, task, others, budget, { widening })
  if (scopes.length === 0) return attempt(undefined)
  const narrowest = new Map(scopes.map(scope => [scope, 0]))
  const first = attempt(narrowest)
  if (first.kind === 'placed') return first
  const fallback = attempt(undefined)
  if (fallback.kind !== 'placed') return fallback

  // Widening one scope further never makes the gang infeasible, so each scope has a narrowest level of its own.
  const least = scopes.map(scope => {
    for (let widened = 0; widened < levelsOf(scope); widened++) {
      const only = new Map([[scope, widened]])
      if (placeWith(model, task, others, budget, { widening: only, uncounted: true }).kind !== 'impossible')
        return widened
    }
    return levelsOf(scope)
  })
  const combinations = combine(scopes, least)
  let best: Placed = { ...fallback, best: false }
  let isFallback = true
  let complete = combinations.length <= mostCombinations && first.kind !== 'unknown'
  for (const { widening, bound } of combinations.slice(0, mostCombinations)) {
    // Only a placement with counted domains is balanced, so the fallback loses ties.
    const losesTies = task.gang.isBalanced && isFallback
    if (losesTies ? bound < best.score - tolerance : bound <= best.score + tolerance) break
    const outcome = attempt(widening)
    if (outcome.kind === 'unknown' || (outcome.kind === 'placed' && !outcome.best)) complete = false
    if (outcome.kind !== 'placed') continue
    if (losesTies ? outcome.score < best.score - tolerance : outcome.score <= best.score + tolerance) continue
    best = outcome
    isFallback = false
  }
  return { ...best, best: complete }

  function combine(
    all: readonly Scope[],
    from: readonly number[],
  ): { widening: Map<Scope, number>; bound: number }[] {
    let found: Map<Scope, number>[] = [new Map()]
    all.forEach((scope, i) => {
      const next: Map<Scope, number>[] = []
      for (const widening of found)
        for (let widened = from[i]!; widened <= levelsOf(scope); widened++)
          if (next.length <= mostCombinations) next.push(new Map(widening).set(scope, widened))
      found = next
    })
    return found
      .map(widening => ({ widening, bound: upperBound(task, widening) }))
      .sort((left, right) => right.bound - left.bound)
  }
}

const tolerance = 1e-12

function levelsOf(scope: Scope): number {
  return scope.preferred!.partitions.length
}

/** Pods of a scope that the score counts. */
function podsOf(task: GangTask, scope: Scope): number {
  return scope.groups.reduce(
    (sum, group) => sum + task.minimum[group]!.length + task.running[group]!.length,
    0,
  )
}

function upperBound(task: GangTask, widening: Widening): number {
  // Scopes without missing pods have a fixed score; their part of the sum is the same for all combinations.
  // A scope that had to widen uses two domains at least, or one node that is outside every domain.
  return totalScore(task, widening, scope =>
    widening.get(scope) === 0 || scope.preferred!.partitions[0]!.domainOf.includes(-1) ? 1 : 2,
  )
}

function totalScore(task: GangTask, widening: Widening, domainsOf: (scope: Scope) => number): number {
  let weighted = 0
  let pods = 0
  const add = (scope: Scope): void => {
    const count = podsOf(task, scope)
    if (scope.preferred && count > 0) {
      const widened = widening.get(scope)
      weighted += count * (widened === undefined ? 1 : quality(levelsOf(scope), widened, domainsOf(scope)))
      pods += count
    }
    for (const child of scope.children) add(child)
  }
  add(task.scope)
  return pods === 0 ? 1 : weighted / pods
}

export interface PlaceOptions {
  readonly widening?: Widening | undefined
  /** Do not count domains: only the levels matter. */
  readonly uncounted?: boolean
  /** Nodes that the gang is confined to. */
  readonly mask?: NodeMask | undefined
  /** Wraps the demand, for example to hold several gangs in one domain. */
  readonly wrap?: ((scope: DemandScope, demands: readonly GangDemand[]) => DemandScope) | undefined
}

/** Places a gang and others with one widening. */
export function placeWith(
  model: Model,
  task: GangTask,
  others: readonly GangTask[],
  budget: Budget,
  { widening, uncounted, mask, wrap }: PlaceOptions,
): PlaceOutcome {
  const tasks = [task, ...others]
  const ids = { next: 0 }
  const own = gangDemand(model, task, widening, ids)
  if (!own) return { kind: 'impossible' }
  const demands = [own, ...others.map(other => gangDemand(model, other, undefined, ids)!)]
  const ownScope = uncounted ? withoutCounters(own.scope) : own.scope
  const first = mask ? confine(ownScope, mask) : ownScope
  const scope: DemandScope = {
    partition: undefined,
    buckets: [],
    children: inReplicas(tasks, [first, ...demands.slice(1).map(demand => demand.scope)]),
  }
  const objective =
    own.counters.length > 0 && !uncounted
      ? (counts: readonly number[]) =>
          totalScore(task, widening!, scope => {
            const at = own.counters.findIndex(counter => counter.scope === scope)
            return at < 0 ? 1 : counts[at]! + own.counters[at]!.base
          })
      : undefined
  const outcome = solve(model, wrap ? wrap(scope, demands) : scope, budget, objective)
  if (outcome.kind !== 'fits') {
    // Other pods of the group could form the minimum, so nothing is proved.
    const proves = tasks.every(({ isUniform }) => isUniform)
    return outcome.kind === 'impossible' && proves ? { kind: 'impossible' } : { kind: 'unknown' }
  }
  const placements = demands.map((demand, i) => placementOf(model, tasks[i]!, demand, outcome.assignment))
  return { kind: 'placed', placements, score: scoreOfPlacement(task, placements[0]!), best: outcome.best }
}

/** Places a gang alone, with required levels only. Tries all choices of the pods that form the minimum. */
export function placeAnyChoice(model: Model, task: GangTask, budget: Budget): Placement | undefined {
  const choices = task.isUniform ? [task] : minimumChoices(model, task).tasks
  for (const choice of choices) {
    const outcome = placeWith(model, choice, [], budget, {})
    if (outcome.kind === 'placed') return outcome.placements[0]
  }
  return undefined
}

/** Reports whether the minimum of a gang fits together with those of others, with required levels only. */
export function fitsWith(
  model: Model,
  task: GangTask,
  others: readonly GangTask[],
  budget: Budget,
): 'yes' | 'no' | 'unknown' {
  const tasks = [task, ...others]
  const ids = { next: 0 }
  const scopes = tasks.map(one => gangDemand(model, one, undefined, ids)!.scope)
  const kind = feasibility(
    model,
    { partition: undefined, buckets: [], children: inReplicas(tasks, scopes) },
    budget,
  )
  if (kind === 'fits') return 'yes'
  // Other pods of the group could form the minimum, so nothing is proved.
  return kind === 'impossible' && tasks.every(({ isUniform }) => isUniform) ? 'no' : 'unknown'
}

function withoutCounters(scope: DemandScope): DemandScope {
  return {
    partition: scope.partition,
    buckets: scope.buckets.map(bucket => ({ ...bucket, counters: [] })),
    children: scope.children.map(withoutCounters),
  }
}

export function scoreOfPlacement(task: GangTask, placement: Placement): number {
  return placementScore(task.scope, group => [
    ...task.running[group]!,
    ...placement.filter(placed => placed.group === group).map(({ node }) => node),
  ])
}

/** Pods in rank order get nodes in the order of the fabric, so neighbours in rank are neighbours in the fabric. */
function placementOf(model: Model, task: GangTask, demand: GangDemand, assignment: Assignment): Placement {
  const compareNodes = fabricOrder(model, task)
  return [...demand.buckets].flatMap(([id, { group, pods }]) => {
    const nodes = (assignment.get(id) ?? []).toSorted(compareNodes)
    return pods.map((pod, i) => ({ pod, group, node: nodes[i]! }))
  })
}

/** The same nodes for equal pods of each group, with the pods in rank order again. */
export function inRankOrder(model: Model, task: GangTask, placement: Placement): Placement {
  const compareNodes = fabricOrder(model, task)
  const equal = Map.groupBy(placement, ({ pod, group }) => `${group} ${model.shapes.of(pod).id}`)
  return [...equal.values()].flatMap(own => {
    const nodes = own.map(({ node }) => node).sort(compareNodes)
    return own.map(({ pod, group }, i) => ({ pod, group, node: nodes[i]! }))
  })
}

function fabricOrder(model: Model, task: GangTask): (left: number, right: number) => number {
  const rank = (node: number) =>
    task.gang.levels.map(({ key }) => model.snapshot.nodes[node]!.labels[key] ?? '')
  const paths = new Map<number, readonly string[]>()
  const pathOf = (node: number) => {
    const known = paths.get(node)
    if (known) return known
    const path = rank(node)
    paths.set(node, path)
    return path
  }
  return (left, right) => {
    const a = pathOf(left)
    const b = pathOf(right)
    for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return compareText(a[i]!, b[i]!)
    return left - right
  }
}

export function apply(model: Model, placement: Placement): void {
  for (const { pod, node } of placement) model.place(model.shapes.of(pod), node)
}

export function revert(model: Model, placement: Placement): void {
  for (const { pod, node } of placement) model.remove(model.shapes.of(pod), node)
}
