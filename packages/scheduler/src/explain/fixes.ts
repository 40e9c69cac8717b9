// SPDX-License-Identifier: Apache-2.0
import type { Taint, Toleration } from '@grove/api'
import { selectsNode } from '../filters/node-selector.ts'
import { keepsAway, tolerates } from '../filters/taints.ts'
import type { Model } from '../model/model.ts'
import type { Shape } from '../model/shapes.ts'
import { canonicalText, compareText } from '../order.ts'
import type { Cycle } from '../planner/cycle.ts'
import { type GangTask, need, taskOf } from '../planner/gang-demand.ts'
import { removalUnits } from '../planner/removal.ts'
import { allScopes } from '../planner/scopes.ts'
import type { Fix, Gang, Snapshot, SnapshotNode, SnapshotPod } from '../types.ts'
import { distinct, domainsOf } from './evidence.ts'
import { heldBefore, knownPlacements, wouldBeAccepted } from './trial.ts'
import { applyFix } from './variants.ts'

const mostFixes = 5
const hostnameKey = 'kubernetes.io/hostname'

/**
 * The budget of the search for fixes of all gangs of a plan: nodes and pods read by trials. It is not a time, so that
 * plans are reproducible. Every waiting gang gets an equal share; a gang that needs less leaves the rest to the next
 * one. The shares of the next gangs pay for a trial that costs more than is left: with thousands of waiting gangs, one
 * trial is more than a share.
 */
export class FixAllowance {
  readonly #work: number
  #left = 0
  #isCutShort = false

  constructor(work = 500_000) {
    this.#work = work
  }

  /** Begins the search for one of `gangs` waiting gangs. */
  begin(gangs: number): void {
    this.#left += this.#work / Math.max(1, gangs)
    this.#isCutShort = false
  }

  /** Reports whether another trial may run. */
  get mayTry(): boolean {
    if (this.#left <= 0) this.#isCutShort = true
    return this.#left > 0
  }

  /** Takes the work of a trial. Reports whether it may run. */
  take({ nodes, boundPods, gangs }: Snapshot): boolean {
    if (!this.mayTry) return false
    this.#left -= nodes.length * (1 + waitingIn(gangs) / 8) + boundPods.length / 8
    return true
  }

  /** Reports whether a trial was skipped since the search of this gang began. */
  get isCutShort(): boolean {
    return this.#isCutShort
  }
}

const waitingOf = new WeakMap<readonly Gang[], number>()

function waitingIn(gangs: readonly Gang[]): number {
  const known = waitingOf.get(gangs)
  if (known !== undefined) return known
  const waiting = gangs.filter(gang => gang.groups.some(group => need(group) > 0)).length
  waitingOf.set(gangs, waiting)
  return waiting
}

/**
 * Searches fixes of each kind by rising cost and returns the cheapest of each kind, cheapest first. A fix is listed only
 * if planning the changed snapshot accepts the gang.
 */
export function fixesFor(
  cycle: Cycle,
  index: number,
  limit: number,
  allowance: FixAllowance,
  isAsked: (gang: Gang) => boolean,
): Fix[] {
  const { model } = cycle
  const { snapshot } = model
  const known = knownPlacements(cycle)
  const held = heldBefore(cycle, index).map(({ pods }) => pods)
  allowance.begin(
    cycle.results.filter(({ kind }, at) => kind === 'unschedulable' && isAsked(snapshot.gangs[at]!)).length,
  )
  // Candidates of a fix are searched among all nodes and pods, which is of no use without a trial.
  if (!allowance.mayTry) return []
  const works = (fix: Fix): boolean =>
    allowance.take(snapshot) && wouldBeAccepted(applyFix(snapshot, index, fix), known, held, index, limit)
  const task = taskOf(model, snapshot.gangs[index]!, index)
  const search: Search = {
    model,
    task,
    shapes: new Set(task.minimum.flat().map(pod => model.shapes.of(pod))),
    snapshot,
    gang: snapshot.gangs[index]!,
    nearest: nearestFirst(model, task),
    works,
  }
  // Kinds with one candidate for each object come first, so that a fix of cost 1 is found before the allowance ends.
  const found = [relaxTopology, lowerMinAvailable, uncordon, removeTaint, addToleration, addNodes, deletePods]
    .map(kind => (allowance.mayTry ? kind(search) : undefined))
    .filter(fix => fix !== undefined)
  return found.sort((left, right) => left.cost - right.cost || rank(left) - rank(right)).slice(0, mostFixes)
}

export interface Search {
  readonly model: Model
  readonly task: GangTask
  /** Shapes of the missing pods. */
  readonly shapes: ReadonlySet<Shape>
  /** All nodes, those of the domains that come closest to holding the gang first. */
  readonly nearest: readonly number[]
  readonly snapshot: Snapshot
  readonly gang: Gang
  readonly works: (fix: Fix) => boolean
}

/** Among fixes of equal cost, the ones that change no workload come first. */
const order: readonly Fix['op'][] = [
  'Uncordon',
  'RemoveTaint',
  'AddToleration',
  'RelaxTopology',
  'LowerMinAvailable',
  'AddNodes',
  'DeletePods',
]

function rank({ op }: Fix): number {
  return order.indexOf(op)
}

/** Sets of at most this many items are searched item by item. */
const fewItems = 32

/**
 * A small working set: single items, pairs of few items, then a set from which no item can be left out. For large lists
 * the first items that work together are used.
 */
export function smallestSet<Item>(
  items: readonly Item[],
  fixOf: (chosen: readonly Item[]) => Fix,
  works: (fix: Fix) => boolean,
): Fix | undefined {
  if (items.length === 0) return undefined
  if (!works(fixOf(items))) return undefined
  for (const item of items.slice(0, fewItems)) if (works(fixOf([item]))) return fixOf([item])
  if (items.length <= 8)
    for (let i = 0; i < items.length; i++)
      for (let j = i + 1; j < items.length; j++) {
        const pair = fixOf([items[i]!, items[j]!])
        if (works(pair)) return pair
      }
  let kept = items.slice(
    0,
    smallestNumber(1, items.length, count => works(fixOf(items.slice(0, count)))),
  )
  for (const item of kept.slice(0, fewItems)) {
    const without = kept.filter(other => other !== item)
    if (without.length > 0 && works(fixOf(without))) kept = without
  }
  return fixOf(kept)
}

/** The smallest number that works, if all larger ones work too. The largest is known to work. */
export function smallestNumber(from: number, to: number, works: (count: number) => boolean): number {
  if (from < to && works(from)) return from
  let low = Math.min(from + 1, to)
  let high = to
  while (low < high) {
    const middle = (low + high) >> 1
    if (works(middle)) high = middle
    else low = middle + 1
  }
  return high
}

function uncordon(search: Search): Fix | undefined {
  const { snapshot, works } = search
  const nodes = search.nearest
    .map(node => snapshot.nodes[node]!)
    .filter(({ unschedulable }) => unschedulable)
    .map(({ name }) => name)
  return smallestSet(nodes, chosen => ({ op: 'Uncordon', nodes: chosen, cost: chosen.length }), works)
}

/**
 * Distinct taints that some missing pod does not tolerate. Excludes taints of nodes that are not ready, because users
 * cannot remove those.
 */
function foreignTaints({ snapshot, gang }: Search): Taint[] {
  const pods = gang.groups.flatMap(group => (need(group) > 0 ? group.candidates : []))
  const taints = new Map<string, Taint>()
  for (const { taints: own } of snapshot.nodes)
    for (const taint of own)
      if (keepsAway(taint) && pods.some(({ needs }) => !tolerates(needs.tolerations, taint)))
        taints.set(canonicalText(taint), taint)
  return [...taints]
    .sort(([left], [right]) => compareText(left, right))
    .map(([, taint]) => taint)
    .filter(({ key }) => !key.startsWith('node.kubernetes.io/'))
}

function cheapest(fixes: readonly (Fix | undefined)[]): Fix | undefined {
  return fixes.reduce((best, fix) => (fix && (!best || fix.cost < best.cost) ? fix : best), undefined)
}

function removeTaint(search: Search): Fix | undefined {
  return cheapest(
    foreignTaints(search).map(taint => {
      const text = canonicalText(taint)
      const nodes = search.nearest
        .map(node => search.snapshot.nodes[node]!)
        .filter(({ taints }) => taints.some(other => canonicalText(other) === text))
        .map(({ name }) => name)
      return smallestSet(
        nodes,
        chosen => ({ op: 'RemoveTaint', nodes: chosen, taint, cost: chosen.length }),
        search.works,
      )
    }),
  )
}

function addToleration(search: Search): Fix | undefined {
  return cheapest(
    foreignTaints(search).map(({ key, value, effect }) => {
      const toleration: Toleration = value
        ? { key, operator: 'Equal', value, effect }
        : { key, operator: 'Exists', effect }
      const groups = search.gang.groups.filter(group => need(group) > 0).map(({ name }) => name)
      return smallestSet(
        groups,
        podGroups => ({ op: 'AddToleration', podGroups, toleration, cost: podGroups.length }),
        search.works,
      )
    }),
  )
}

/** Tries broader levels first, then none. */
function relaxTopology({ gang, works }: Search): Fix | undefined {
  const scopes = [
    { name: gang.name, constraint: gang.constraint },
    ...gang.configs,
    ...gang.groups.filter(group => group.placed.length + group.candidates.length > 0),
  ]
  for (const { name, constraint } of scopes) {
    const from = constraint.required
    if (!from) continue
    const position = gang.levels.findIndex(({ key }) => key === from)
    const broader = gang.levels
      .slice(0, Math.max(0, position))
      .map(({ key }) => key)
      .reverse()
    for (const to of [...broader, null]) {
      const fix: Fix = { op: 'RelaxTopology', scope: name, from, to, cost: 1 }
      if (works(fix)) return fix
    }
  }
  return undefined
}

/** The largest minimum that fits. It stays at least 1, as admission requires. */
function lowerMinAvailable({ gang, works }: Search): Fix | undefined {
  for (const group of gang.groups) {
    if (need(group) === 0) continue
    const lower = (to: number): Fix => ({ op: 'LowerMinAvailable', podGroup: group.name, to, cost: 1 })
    if (group.minReplicas < 2 || !works(lower(1))) continue
    const { minReplicas } = group
    const by = smallestNumber(1, minReplicas - 1, less => works(lower(minReplicas - less)))
    return lower(minReplicas - by)
  }
  return undefined
}

/** Clusters of at most this many nodes are searched completely. */
const fewNodes = 64

function nearestFirst(model: Model, task: GangTask): number[] {
  const scope = allScopes(task.scope).find(({ required }) => required)
  if (!scope?.required) return Array.from({ length: model.nodeCount }, (_, node) => node)
  const { partition } = scope.required
  const inside = domainsOf(model, task, scope, partition).flatMap(({ nodes }) => [...nodes])
  const seen = new Set(inside)
  for (let node = 0; node < model.nodeCount; node++) if (!seen.has(node)) inside.push(node)
  return inside
}

/** One node of each kind: equal resources, taints, domains and results of node selectors. Nearest domains first. */
function kindsOfNodes(search: Search): SnapshotNode[] {
  const { snapshot, task } = search
  const partitions = allScopes(task.scope).flatMap(({ required }) => (required ? [required.partition] : []))
  const needs = distinct(task.minimum.flat()).map(pod => pod.needs)
  const kinds = new Map<string, SnapshotNode>()
  for (const at of search.nearest) {
    const node = snapshot.nodes[at]!
    const domains = partitions.map(({ domainOf, keys }) => (keys.at(-1) === hostnameKey ? 0 : domainOf[at]!))
    const key = `${resourcesText(node)} ${domains} ${needs.map(one => selectsNode(one, node))}`
    if (!kinds.has(key)) kinds.set(key, node)
    if (snapshot.nodes.length > fewNodes && kinds.size >= mostKinds) break
  }
  return [...kinds.values()]
}

const mostKinds = 3

const texts = new WeakMap<SnapshotNode, string>()

function resourcesText(node: SnapshotNode): string {
  let text = texts.get(node)
  if (text === undefined) {
    text = canonicalText([node.allocatable, node.taints])
    texts.set(node, text)
  }
  return text
}

/** No smaller number of nodes of this kind is enough: by the room for pods of one shape in the domain of the kind. */
function leastNodes({ model, task, shapes, snapshot }: Search, kind: SnapshotNode): number {
  const [shape] = shapes
  if (!shape || shapes.size > 1) return 1
  const pods = task.minimum.reduce((sum, group) => sum + group.length, 0)
  const { required } = task.scope
  const room = model.roomOf(shape)
  const domain = required?.partition.domainOf[snapshot.nodes.indexOf(kind)] ?? -1
  const free = required && domain >= 0 ? room.sums(required.partition)[domain]! : room.total
  const onOne = Math.min(
    ...shape.resources.map((index, i) =>
      Math.floor((kind.allocatable[model.resources[index]!] ?? 0) / shape.amounts[i]!),
    ),
  )
  return onOne > 0 ? Math.max(1, Math.ceil((pods - free) / onOne)) : 1
}

function addNodes(search: Search): Fix | undefined {
  const { gang, works } = search
  const most = gang.groups.reduce((sum, group) => sum + need(group), 0)
  const fixOf = (count: number, { name }: SnapshotNode): Fix => ({
    op: 'AddNodes',
    count,
    like: name,
    cost: count,
  })
  let best: { kind: SnapshotNode; count: number } | undefined
  for (const kind of kindsOfNodes(search)) {
    // A kind is better only if fewer of its nodes are enough.
    const limit = best ? best.count - 1 : most
    if (limit < 1 || !works(fixOf(limit, kind))) continue
    const least = Math.min(limit, leastNodes(search, kind))
    best = { kind, count: smallestNumber(least, limit, count => works(fixOf(count, kind))) }
  }
  return best && fixOf(best.count, best.kind)
}

const fewUnits = 8

/** Pods of other gangs and of no gang. A gang never has to delete its own pods. */
function deletePods(search: Search): Fix | undefined {
  const { snapshot, gang, works } = search
  const isOwn = (pod: SnapshotPod) => pod.namespace === gang.namespace && pod.gang === gang.name
  const pods = snapshot.boundPods.filter(pod => !pod.terminating && !isOwn(pod))
  const fixOf = (chosen: readonly SnapshotPod[]): Fix => {
    const holders = new Set(chosen.map(pod => pod.gang))
    const [holder] = holders
    return {
      op: 'DeletePods',
      pods: chosen.map(({ namespace, name }) => ({ namespace, name })),
      ...(holders.size === 1 && holder !== undefined ? { holder } : {}),
      cost: chosen.length,
    }
  }
  if (pods.length <= fewItems) return smallestSet(pods, fixOf, works)
  for (const units of removalUnits(search, pods)) {
    let chosen = units
    const fix = () => fixOf(chosen.flatMap(unit => unit.pods))
    if (!works(fix())) continue
    // With one shape no smaller set is enough. Otherwise pods of another shape may have needed fewer.
    if (search.shapes.size > 1)
      for (const unit of units.slice(0, fewUnits)) {
        const before = chosen
        chosen = chosen.filter(other => other !== unit)
        if (chosen.length === 0 || !works(fix())) chosen = before
      }
    return fix()
  }
  return undefined
}
