// SPDX-License-Identifier: Apache-2.0
import type { Taint, Toleration } from '@grove/api'
import { keepsAway, tolerates } from '../filters/taints.ts'
import { canonicalText, compareText } from '../order.ts'
import type { Cycle } from '../planner/cycle.ts'
import { need } from '../planner/gang-demand.ts'
import type { Fix, Gang, Snapshot, SnapshotNode, SnapshotPod } from '../types.ts'
import { knownPlacements, wouldBeAccepted } from './trial.ts'
import { applyFix } from './variants.ts'

const mostFixes = 5
const hostnameKey = 'kubernetes.io/hostname'

/** Work that the search for fixes of all gangs of a plan may cost: nodes and pods read by trials. Not time, so that plans repeat. */
export class FixAllowance {
  #left: number

  constructor(work = 500_000) {
    this.#left = work
  }

  /** Reports whether another trial may run. */
  take({ nodes, boundPods, gangs }: Snapshot): boolean {
    const waiting = gangs.filter(gang => gang.groups.some(group => need(group) > 0)).length
    this.#left -= nodes.length * (1 + waiting / 8) + boundPods.length / 8
    return this.#left >= 0
  }
}

/**
 * Searches fixes of each kind by rising cost and returns the cheapest of each kind, cheapest first. A fix is listed only
 * if planning the changed snapshot accepts the gang.
 */
export function fixesFor(cycle: Cycle, index: number, limit: number, allowance: FixAllowance): Fix[] {
  const { snapshot } = cycle.model
  const known = knownPlacements(cycle)
  const works = (fix: Fix): boolean =>
    allowance.take(snapshot) && wouldBeAccepted(applyFix(snapshot, index, fix), known, index, limit)
  const search: Search = { snapshot, gang: snapshot.gangs[index]!, works }
  // Kinds with one candidate for each object come first, so that a fix of cost 1 is found before the allowance ends.
  const found = [relaxTopology, lowerMinAvailable, uncordon, removeTaint, addToleration, addNodes, deletePods]
    .map(kind => kind(search))
    .filter(fix => fix !== undefined)
  return found.sort((left, right) => left.cost - right.cost || rank(left) - rank(right)).slice(0, mostFixes)
}

interface Search {
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

/** The smallest working set: single items, then pairs of few items, then all items without those that are not needed. */
function smallestSet<Item>(
  items: readonly Item[],
  fixOf: (chosen: readonly Item[]) => Fix,
  works: (fix: Fix) => boolean,
): Fix | undefined {
  if (items.length === 0) return undefined
  const all = fixOf(items)
  if (!works(all)) return undefined
  for (const item of items) if (works(fixOf([item]))) return fixOf([item])
  if (items.length <= 8)
    for (let i = 0; i < items.length; i++)
      for (let j = i + 1; j < items.length; j++) {
        const pair = fixOf([items[i]!, items[j]!])
        if (works(pair)) return pair
      }
  let kept = [...items]
  for (const item of items) {
    const without = kept.filter(other => other !== item)
    if (works(fixOf(without))) kept = without
  }
  return fixOf(kept)
}

function uncordon({ snapshot, works }: Search): Fix | undefined {
  const nodes = snapshot.nodes.filter(({ unschedulable }) => unschedulable).map(({ name }) => name)
  return smallestSet(nodes, chosen => ({ op: 'Uncordon', nodes: chosen, cost: chosen.length }), works)
}

/** Distinct taints that some missing pod does not tolerate. Taints of nodes that are not ready are not for users to remove. */
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
      const nodes = search.snapshot.nodes
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
    for (let to = group.minReplicas - 1; to > 1; to--) if (works(lower(to))) return lower(to)
    return lower(1)
  }
  return undefined
}

/** One node of each kind: equal resources, taints and labels apart from the hostname. */
function kindsOfNodes(nodes: readonly SnapshotNode[]): SnapshotNode[] {
  const kinds = new Map<string, SnapshotNode>()
  for (const node of nodes) {
    const { [hostnameKey]: _, ...labels } = node.labels
    const key = canonicalText([node.allocatable, node.taints, labels])
    if (!kinds.has(key)) kinds.set(key, node)
  }
  return [...kinds.values()]
}

function addNodes({ snapshot, gang, works }: Search): Fix | undefined {
  const kinds = kindsOfNodes(snapshot.nodes)
  const most = gang.groups.reduce((sum, group) => sum + need(group), 0)
  const fixOf = (count: number, { name }: SnapshotNode): Fix => ({
    op: 'AddNodes',
    count,
    like: name,
    cost: count,
  })
  const useful = kinds.filter(kind => works(fixOf(most, kind)))
  for (let count = 1; count <= most; count++)
    for (const kind of useful) {
      const fix = fixOf(count, kind)
      if (count === most || works(fix)) return fix
    }
  return undefined
}

/** Pods of other gangs and of no gang. A gang never has to delete its own pods. */
function deletePods({ snapshot, gang, works }: Search): Fix | undefined {
  const isOwn = (pod: SnapshotPod) => pod.namespace === gang.namespace && pod.gang === gang.name
  const pods = snapshot.boundPods.filter(pod => !pod.terminating && !isOwn(pod))
  return smallestSet(
    pods,
    chosen => {
      const holders = new Set(chosen.map(pod => pod.gang))
      const [holder] = holders
      return {
        op: 'DeletePods',
        pods: chosen.map(({ namespace, name }) => ({ namespace, name })),
        ...(holders.size === 1 && holder !== undefined ? { holder } : {}),
        cost: chosen.length,
      }
    },
    works,
  )
}
