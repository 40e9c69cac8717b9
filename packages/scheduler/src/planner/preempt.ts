// SPDX-License-Identifier: Apache-2.0
import { matches } from '../filters/pod-affinity.ts'
import { Model } from '../model/model.ts'
import { without } from '../model/usage.ts'
import { compareText, firstDifference } from '../order.ts'
import type { Budget } from '../solver/index.ts'
import type { DisruptionBudget, Eviction, Gang, Snapshot, SnapshotPod } from '../types.ts'
import type { Accepted } from './accept.ts'
import { taskOf } from './gang-demand.ts'
import { apply, type Placement, placeAnyChoice } from './place.ts'
import { withReplicaDomain } from './replica-domain.ts'
import { allScopes } from './scopes.ts'

/** Pods that are evicted together: one surplus pod, or all pods of a gang and of the gangs that depend on it. */
interface Unit {
  readonly priority: number
  readonly isSurplus: boolean
  readonly createdAt: number
  readonly pods: readonly SnapshotPod[]
}

/** At most this many domains are compared, and for this many units the search checks whether they can stay. */
const mostRegions = 8
const mostGiveBacks = 64

export interface Preemption {
  readonly evictions: readonly Eviction[]
  /** Nodes that the gang will use. Later gangs must not use them. */
  readonly placement: Placement
}

/**
 * Finds pods of lower priority to evict so that the whole minimum of a gang fits. Terminating pods count as gone, so a
 * second cycle evicts no further pods. Undefined if no set of victims is sufficient.
 *
 * Victims stay within their PodDisruptionBudgets: an eviction that the API server rejects would leave a partly evicted
 * gang, without room for the preemptor.
 */
export function preemptFor(
  snapshot: Snapshot,
  gang: Gang,
  index: number,
  accepted: readonly Accepted[],
  reserved: readonly Placement[],
  evicted: ReadonlySet<SnapshotPod>,
  budget: Budget,
): Preemption | undefined {
  const isGone = (pod: SnapshotPod) => pod.terminating || evicted.has(pod)
  const base = without(snapshot.boundPods, isGone)
  const trial = (units: readonly Unit[]): Placement | undefined => {
    const victims = new Set(units.flatMap(({ pods }) => pods))
    const model = new Model({ ...snapshot, boundPods: without(base, pod => victims.has(pod)) })
    for (const { placement } of accepted) apply(model, placement)
    for (const placement of reserved) apply(model, placement)
    return placeAnyChoice(model, withReplicaDomain(taskOf(model, gang, index), accepted), budget)
  }
  const free = trial([])
  if (free) return { evictions: [], placement: free }
  if (gang.preemptionPolicy === 'Never') return undefined
  const isEvictable = evictableWith(snapshot, evicted)
  const units = unitsBelow(snapshot, gang, isGone).filter(unit => isEvictable([unit]))
  if (units.length === 0 || !trial(units)) return undefined

  let best: { units: readonly Unit[]; cost: number; placement: Placement } | undefined
  for (const region of regionsOf(snapshot, gang, index, units)) {
    const inRegion = withinBudgets(region, isEvictable)
    const count = smallestPrefix(inRegion, prefix => trial(prefix) !== undefined)
    if (count === undefined) continue
    const kept = giveBack(inRegion.slice(0, count), chosen => trial(chosen) !== undefined)
    const cost = kept.reduce((sum, { pods }) => sum + pods.length, 0)
    if (!best || cost < best.cost) best = { units: kept, cost, placement: trial(kept)! }
  }
  if (!best) return undefined
  const preemptor = { namespace: gang.namespace, name: gang.name }
  return {
    placement: best.placement,
    // A surplus pod is also part of the unit of its gang.
    evictions: [...new Set(best.units.flatMap(({ pods }) => pods))].map(
      ({ namespace, name, uid, gang: owner }) => ({ namespace, pod: name, uid, gang: owner, preemptor }),
    ),
  }
}

/** Reports whether PodDisruptionBudgets allow evicting the pods of all units, after the victims of this plan so far. */
function evictableWith(
  { disruptionBudgets }: Snapshot,
  evicted: ReadonlySet<SnapshotPod>,
): (units: readonly Unit[]) => boolean {
  if (disruptionBudgets.length === 0) return () => true
  const known = new Map<SnapshotPod, readonly DisruptionBudget[]>()
  const budgetsOf = (pod: SnapshotPod) => {
    let budgets = known.get(pod)
    if (!budgets) {
      budgets = disruptionBudgets.filter(
        ({ namespace, selector }) =>
          namespace === pod.namespace && selector !== undefined && matches(selector, pod.labels),
      )
      known.set(pod, budgets)
    }
    return budgets
  }
  return units => {
    const pods = new Set([...evicted, ...units.flatMap(unit => unit.pods)])
    const used = new Map<DisruptionBudget, number>()
    for (const pod of pods) {
      const budgets = budgetsOf(pod)
      // The API server evicts no pod that two budgets select.
      if (budgets.length > 1) return false
      for (const budget of budgets) used.set(budget, (used.get(budget) ?? 0) + 1)
    }
    return [...used].every(([{ allowed }, count]) => count <= allowed)
  }
}

/** The units in their order, without those that would exceed a budget together with the units before them. */
function withinBudgets(units: readonly Unit[], isEvictable: (units: readonly Unit[]) => boolean): Unit[] {
  if (isEvictable(units)) return [...units]
  const kept: Unit[] = []
  for (const unit of units) if (isEvictable([...kept, unit])) kept.push(unit)
  return kept
}

/** Units of lower priority: the lowest first, surplus before whole gangs, then the youngest. */
function unitsBelow(snapshot: Snapshot, gang: Gang, isGone: (pod: SnapshotPod) => boolean): Unit[] {
  const units: Unit[] = []
  const dependents = Map.groupBy(
    snapshot.gangs.filter(({ baseGang }) => baseGang !== undefined),
    ({ namespace, baseGang }) => `${namespace}/${baseGang}`,
  )
  for (const owner of snapshot.gangs) {
    if (owner.priority >= gang.priority) continue
    const whole: SnapshotPod[] = []
    for (const group of owner.groups) {
      const live = group.placed.filter(pod => !isGone(pod))
      const surplus = live.slice(group.minReplicas)
      for (const pod of surplus)
        units.push({ priority: owner.priority, isSurplus: true, createdAt: owner.createdAt, pods: [pod] })
      whole.push(...live)
    }
    for (const scaled of dependents.get(`${owner.namespace}/${owner.name}`) ?? [])
      if (scaled !== owner && scaled.priority < gang.priority)
        for (const { placed } of scaled.groups) whole.push(...placed.filter(pod => !isGone(pod)))
    if (whole.length > 0)
      units.push({ priority: owner.priority, isSurplus: false, createdAt: owner.createdAt, pods: whole })
  }
  const first = ({ pods }: Unit) => pods[0]!
  return units.sort((a, b) =>
    firstDifference(
      a.priority - b.priority,
      Number(b.isSurplus) - Number(a.isSurplus),
      b.createdAt - a.createdAt,
      // Neighbours in this order free whole nodes.
      compareText(first(a).node ?? '', first(b).node ?? ''),
      compareText(first(a).namespace, first(b).namespace),
      compareText(first(a).name, first(b).name),
    ),
  )
}

/** Units by the domains of the outermost required level, those with the most pods of lower priority first. */
function regionsOf(snapshot: Snapshot, gang: Gang, index: number, units: readonly Unit[]): readonly Unit[][] {
  const model = new Model(snapshot)
  const { required } = allScopes(taskOf(model, gang, index).scope).find(scope => scope.required) ?? {}
  if (!required) return [[...units]]
  const byDomain = new Map<number, Unit[]>()
  for (const unit of units) {
    const domains = new Set(
      unit.pods.map(({ node }) => required.partition.domainOf[model.nodeIndex.get(node ?? '') ?? -1] ?? -1),
    )
    domains.delete(-1)
    for (const domain of domains) byDomain.set(domain, [...(byDomain.get(domain) ?? []), unit])
  }
  const podsOf = (list: readonly Unit[]) => list.reduce((sum, { pods }) => sum + pods.length, 0)
  return [...byDomain]
    .sort(([left, a], [right, b]) => podsOf(b) - podsOf(a) || left - right)
    .slice(0, mostRegions)
    .map(([, list]) => list)
}

function smallestPrefix(
  units: readonly Unit[],
  fits: (prefix: readonly Unit[]) => boolean,
): number | undefined {
  if (!fits(units)) return undefined
  let low = 1
  let high = units.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (fits(units.slice(0, middle))) high = middle
    else low = middle + 1
  }
  return high
}

/** Removes unnecessary units from the victims, the most valuable first: all of a part at once, else half by half. */
function giveBack(units: readonly Unit[], fits: (kept: readonly Unit[]) => boolean): readonly Unit[] {
  let kept = units
  let tries = 0
  const release = (from: number, to: number): void => {
    if (from === to || tries === mostGiveBacks) return
    tries++
    const part = new Set(units.slice(from, to))
    const less = kept.filter(unit => !part.has(unit))
    if (fits(less)) {
      kept = less
      return
    }
    if (to - from === 1) return
    const middle = (from + to) >> 1
    release(middle, to)
    release(from, middle)
  }
  const middle = units.length >> 1
  release(middle, units.length)
  release(0, middle)
  return kept
}
