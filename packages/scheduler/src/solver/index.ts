// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import type { Partition } from '../model/partitions.ts'
import { type Budget, withinBudget } from './budget.ts'
import { chainFits, solveChain } from './chain.ts'
import { construct } from './construct.ts'
import { isCoupled, searchNodes } from './coupled.ts'
import { type DemandScope, demandOf, type NodeMask } from './demand.ts'
import { groundOf, isImpossible } from './ground.ts'
import { type Assignment, Solver } from './solver.ts'
import { nested } from './tree.ts'

export { Budget, withinBudget } from './budget.ts'
export type { Bucket, DemandScope, DomainCounter, NodeMask } from './demand.ts'
export type { Assignment } from './solver.ts'

export type Outcome =
  | {
      readonly kind: 'fits'
      readonly assignment: Assignment
      /** False if the budget ended before all domain counts were compared. */
      readonly best: boolean
      /** Value of the objective. */
      readonly rate: number
    }
  | { readonly kind: 'impossible' }
  /** The budget ended before a result. */
  | { readonly kind: 'unknown' }

/** Rates domain counts, by position of the counter. Higher is better. */
export type Objective = (counts: readonly number[]) => number

const impossible: Outcome = { kind: 'impossible' }
const unknown: Outcome = { kind: 'unknown' }
const beamWidths = [1, 8]
/** Domains carry partitions and counters as bits of one number. */
const mostBits = 30

/** Finds nodes for all pods of the scope, or proves that there are none. */
export function solve(model: Model, scope: DemandScope, budget: Budget, objective?: Objective): Outcome {
  if (isCoupled(model, scope)) {
    const searched = withinBudget(() => searchNodes(model, scope, budget))
    if (!searched) return unknown
    // The search compares no scores: another assignment may use fewer preferred domains.
    return searched.result
      ? { kind: 'fits', assignment: searched.result, best: !objective, rate: 0 }
      : impossible
  }
  const chain = withinBudget(() => solveChain(model, scope, budget))
  if (!chain) return unknown
  if (chain.result === 'impossible') return impossible
  if (chain.result)
    return {
      kind: 'fits',
      assignment: chain.result.assignment,
      best: true,
      rate: objective?.(chain.result.counts) ?? 0,
    }
  const demand = demandOf(scope)
  if (demand.types.length === 0) return { kind: 'fits', assignment: new Map(), best: true, rate: 0 }
  const partitions = new Map<number, Partition>()
  for (const { partition } of demand.counters) partitions.set(partition.id, partition)
  for (const type of demand.types)
    if (type.kind === 'scope') partitions.set(type.partition.id, type.partition)
  const kept: Partition[] = []
  for (const partition of partitions.values()) {
    if (kept.every(other => nested(other, partition))) kept.push(partition)
    else return solveCrossing(model, scope, partition, budget, objective)
  }
  if (demand.counters.length === 0) {
    const assignment = withinBudget(() => construct(model, scope, budget))?.result
    if (assignment) return { kind: 'fits', assignment, best: true, rate: 0 }
  }
  if (kept.length > mostBits || demand.counters.length > mostBits) return unknown
  const ground = groundOf(model, demand, kept)
  if (isImpossible(ground, demand)) return impossible
  const attempt = (beam: number): Assignment | undefined =>
    withinBudget(() => new Solver(model, demand, ground, budget, beam).assign())?.result
  const exact = new Solver(model, demand, ground, budget, Number.POSITIVE_INFINITY)
  if (demand.counters.length === 0)
    for (const beam of beamWidths) {
      const assignment = attempt(beam)
      if (assignment) return { kind: 'fits', assignment, best: true, rate: 0 }
    }
  const solved = withinBudget((): Outcome => {
    const options = exact.counterOptions()
    if (options.length === 0) return impossible
    const rated = options.map(counts => ({ counts, rate: objective?.(counts) ?? 0 }))
    const best = rated.reduce((left, right) => (right.rate > left.rate ? right : left))
    return { kind: 'fits', assignment: exact.assign(best.counts)!, best: true, rate: best.rate }
  })
  if (solved) return solved.result
  return unknown
}

/** Reports whether all pods of the scope have a place. It is cheaper than `solve` for equal pods: it chooses no nodes. */
export function feasibility(model: Model, scope: DemandScope, budget: Budget): Outcome['kind'] {
  if (!isCoupled(model, scope)) {
    const chain = withinBudget(() => chainFits(model, scope, budget))
    if (!chain) return 'unknown'
    if (chain.result !== undefined) return chain.result ? 'fits' : 'impossible'
  }
  return solve(model, scope, budget).kind
}

/** Tries the domains of a partition that crosses another one, for the first scope that requires it. */
function solveCrossing(
  model: Model,
  scope: DemandScope,
  crossing: Partition,
  budget: Budget,
  objective: Objective | undefined,
): Outcome {
  let isComplete = true
  let best: (Outcome & { kind: 'fits' }) | undefined
  for (let domain = 0; domain < crossing.domains.length; domain++) {
    const pinned = withinBudget(() => budget.spend(1)) && pinFirst(scope, crossing, domain)
    // Two counters whose domains cross: their counts are not comparable by sums over domains.
    if (!pinned) return best ? { ...best, best: false } : unknown
    if (!hasRoom(model, pinned)) continue
    const outcome = solve(model, pinned, budget, objective)
    if (outcome.kind === 'fits') {
      if (!objective) return outcome
      if (!outcome.best) isComplete = false
      if (!best || outcome.rate > best.rate) best = outcome
    }
    if (outcome.kind === 'unknown') isComplete = false
  }
  if (best) return { ...best, best: isComplete }
  return isComplete ? impossible : unknown
}

/** Every bucket alone fits on the nodes of its mask. Most choices of domains fail here, long before a search is set up. */
function hasRoom(model: Model, { buckets, children }: DemandScope): boolean {
  return (
    buckets.every(({ shape, count, mask }) => {
      const { caps, total } = model.roomOf(shape)
      if (!mask) return total >= count
      let room = 0
      for (let node = 0; node < caps.length && room < count; node++) if (mask.nodes[node]) room += caps[node]!
      return room >= count
    }) && children.every(child => hasRoom(model, child))
  )
}

/** Confines the first scope with the partition to one domain. Undefined if only a counter uses the partition. */
function pinFirst(scope: DemandScope, partition: Partition, domain: number): DemandScope | undefined {
  if (scope.partition === partition) {
    const nodes = new Uint8Array(partition.domainOf.length)
    partition.domainOf.forEach((of, node) => {
      if (of === domain) nodes[node] = 1
    })
    return confine({ ...scope, partition: undefined }, { id: `${partition.id}:${domain}`, nodes })
  }
  for (let i = 0; i < scope.children.length; i++) {
    const pinned = pinFirst(scope.children[i]!, partition, domain)
    if (pinned) return { ...scope, children: scope.children.with(i, pinned) }
  }
  return undefined
}

/** Adds a mask to every bucket of the scope. */
export function confine(scope: DemandScope, mask: NodeMask): DemandScope {
  return {
    partition: scope.partition,
    buckets: scope.buckets.map(bucket => ({ ...bucket, mask: intersect(bucket.mask, mask) })),
    children: scope.children.map(child => confine(child, mask)),
  }
}

export function intersect(left: NodeMask | undefined, right: NodeMask): NodeMask {
  if (!left || left.id === right.id) return right
  return {
    id: `${left.id}&${right.id}`,
    nodes: left.nodes.map((allowed, node) => allowed & right.nodes[node]!),
  }
}
