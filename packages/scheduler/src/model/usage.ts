// SPDX-License-Identifier: Apache-2.0
import { keysReadBy } from '../filters/pod-affinity.ts'
import type { HostPort, PodNeeds, SnapshotNode, SnapshotPod } from '../types.ts'

/** Free resources and ports in use of every node under a list of bound pods. Shared: never changed after it was built. */
export interface Columns {
  /** Names of the columns of `free`; `pods` is the first. */
  readonly resources: readonly string[]
  readonly free: Float64Array
  /** Allocatable amounts, in the same columns. */
  readonly allocatable: Float64Array
  readonly podsOn: Int32Array
  readonly ports: readonly (readonly HostPort[])[]
}

/** Rules of a list of bound pods. */
export interface Rules {
  /** Label keys that the pod affinity of these pods reads. */
  readonly labelKeys: readonly string[]
  /** Pods with anti-affinity rules, which may exclude other pods. */
  readonly repelling: readonly SnapshotPod[]
}

// Counterfactuals change gangs and filters far more often than nodes or bound pods, so sums over nodes and bound pods
// are computed once.
const knownColumns = new WeakMap<
  readonly SnapshotNode[],
  WeakMap<readonly SnapshotPod[], { readonly columns: Columns }>
>()
const knownRules = new WeakMap<readonly SnapshotPod[], Rules>()
/** Lists that were created by removing pods from another list. */
const parents = new WeakMap<
  readonly SnapshotPod[],
  { readonly parent: readonly SnapshotPod[]; readonly left: readonly SnapshotPod[] }
>()

/** Lists of nodes that were created by adding nodes to another list. */
const nodeParents = new WeakMap<readonly SnapshotNode[], readonly SnapshotNode[]>()

/** Returns the list with empty nodes added at its end. Sums over the result are derived from those of the list. */
export function withAdded(
  nodes: readonly SnapshotNode[],
  added: readonly SnapshotNode[],
): readonly SnapshotNode[] {
  const all = [...nodes, ...added]
  nodeParents.set(all, nodes)
  return all
}

/** The list that nodes were added to. Undefined for other lists. */
export function nodesBefore(nodes: readonly SnapshotNode[]): readonly SnapshotNode[] | undefined {
  return nodeParents.get(nodes)
}

export const noPods: readonly SnapshotPod[] = []

/** Returns the list without some pods. Sums over the result are derived from those of the list. */
export function without(
  pods: readonly SnapshotPod[],
  isGone: (pod: SnapshotPod) => boolean,
): readonly SnapshotPod[] {
  const kept: SnapshotPod[] = []
  const left: SnapshotPod[] = []
  for (const pod of pods) (isGone(pod) ? left : kept).push(pod)
  if (left.length === 0) return pods
  parents.set(kept, { parent: pods, left })
  return kept
}

/** Returns the list without the pods at these positions. Sums over the result are derived from those of the list. */
export function withoutAt(
  pods: readonly SnapshotPod[],
  positions: ReadonlySet<number>,
): readonly SnapshotPod[] {
  if (positions.size === 0) return pods
  const inOrder = [...positions].sort((left, right) => left - right)
  const kept = pods.slice(0, inOrder[0])
  inOrder.forEach((at, i) => {
    for (let next = at + 1; next < (inOrder[i + 1] ?? pods.length); next++) kept.push(pods[next]!)
  })
  parents.set(kept, { parent: pods, left: inOrder.map(at => pods[at]!) })
  return kept
}

/** Bound pods by node, each in the order of the list. Computed once for each list. */
export function podsByNode(nodes: readonly SnapshotNode[], pods: readonly SnapshotPod[]): Hosting {
  const known = knownHosting.get(pods)
  if (known?.nodes === nodes) return known
  const indexOf = nodeIndexOf(nodes)
  const byNode: (SnapshotPod[] | undefined)[] = new Array(nodes.length)
  const nodeOf = new Int32Array(pods.length).fill(-1)
  pods.forEach((pod, at) => {
    const node = indexOf.get(pod.node ?? '')
    if (node === undefined) return
    nodeOf[at] = node
    const own = byNode[node]
    if (own) own.push(pod)
    else byNode[node] = [pod]
  })
  const hosting = { nodes, byNode, nodeOf }
  knownHosting.set(pods, hosting)
  return hosting
}

interface Hosting {
  readonly nodes: readonly SnapshotNode[]
  readonly byNode: readonly (readonly SnapshotPod[] | undefined)[]
  /** Position of the node of each pod of the list; -1 for a node that does not exist. */
  readonly nodeOf: Int32Array
}

const knownHosting = new WeakMap<readonly SnapshotPod[], Hosting>()

export function columnsOf(
  nodes: readonly SnapshotNode[],
  pods: readonly SnapshotPod[],
  indexOf: NodeIndex,
): Columns {
  let byPods = knownColumns.get(nodes)
  if (!byPods) {
    byPods = new WeakMap()
    knownColumns.set(nodes, byPods)
  }
  const known = byPods.get(pods)
  if (known) return known.columns
  const origin = parents.get(pods)
  const before = nodeParents.get(nodes)
  const columns = before
    ? extend(columnsOf(before, pods, indexOf), nodes, before.length)
    : origin
      ? change(columnsOf(nodes, origin.parent, indexOf), origin.left, indexOf)
      : pods === noPods
        ? emptyColumns(nodes)
        : hold(columnsOf(nodes, noPods, indexOf), pods, indexOf)
  byPods.set(pods, { columns })
  return columns
}

function emptyColumns(nodes: readonly SnapshotNode[]): Columns {
  const indexes = new Map([['pods', 0]])
  for (const { allocatable } of nodes)
    for (const name in allocatable) if (!indexes.has(name)) indexes.set(name, indexes.size)
  const stride = indexes.size
  const allocatable = new Float64Array(nodes.length * stride)
  nodes.forEach((node, at) => {
    for (const name in node.allocatable)
      allocatable[at * stride + indexes.get(name)!] = node.allocatable[name]!
  })
  return {
    resources: [...indexes.keys()],
    free: allocatable,
    allocatable,
    podsOn: new Int32Array(nodes.length),
    ports: nodes.map(() => []),
  }
}

/** The columns with rows for added nodes, which list no resource that the others do not list. */
function extend(columns: Columns, nodes: readonly SnapshotNode[], from: number): Columns {
  const stride = columns.resources.length
  const grow = (source: Float64Array) => {
    const grown = new Float64Array(nodes.length * stride)
    grown.set(source)
    for (let at = from; at < nodes.length; at++)
      columns.resources.forEach((name, index) => {
        grown[at * stride + index] = nodes[at]!.allocatable[name] ?? 0
      })
    return grown
  }
  const podsOn = new Int32Array(nodes.length)
  podsOn.set(columns.podsOn)
  return {
    resources: columns.resources,
    free: grow(columns.free),
    allocatable: grow(columns.allocatable),
    podsOn,
    ports: [...columns.ports, ...nodes.slice(from).map(() => [])],
  }
}

/** Requests that no node lists are not tracked: no pending pod can get them. */
function add(
  columns: {
    readonly resources: readonly string[]
    readonly free: Float64Array
    readonly podsOn: Int32Array
  },
  pods: readonly SnapshotPod[],
  indexOf: NodeIndex,
  sign: 1 | -1,
): void {
  const stride = columns.resources.length
  const indexes = new Map(columns.resources.map((name, index) => [name, index]))
  // Pods with equal needs share one object, so names are looked up once for each.
  const amountsOf = new Map<PodNeeds, readonly (readonly [index: number, amount: number])[]>()
  for (const { node, needs } of pods) {
    const at = indexOf.get(node ?? '')
    if (at === undefined) continue
    columns.podsOn[at]! += sign
    let amounts = amountsOf.get(needs)
    if (!amounts) {
      amounts = Object.entries(needs.requests).flatMap(([name, amount]) => {
        const index = indexes.get(name)
        return index === undefined ? [] : [[index, amount] as const]
      })
      amountsOf.set(needs, amounts)
    }
    for (const [index, amount] of amounts) columns.free[at * stride + index]! -= sign * amount
  }
}

function hold(empty: Columns, pods: readonly SnapshotPod[], indexOf: NodeIndex): Columns {
  const columns = { ...empty, free: empty.free.slice(), podsOn: empty.podsOn.slice() }
  add(columns, pods, indexOf, 1)
  return { ...columns, ports: portsOn(columns.podsOn.length, pods, indexOf) }
}

function portsOn(count: number, pods: readonly SnapshotPod[], indexOf: NodeIndex): HostPort[][] {
  const ports: HostPort[][] = Array.from({ length: count }, () => [])
  for (const { node, needs } of pods) {
    const at = needs.hostPorts.length > 0 ? indexOf.get(node ?? '') : undefined
    if (at !== undefined) ports[at]!.push(...needs.hostPorts)
  }
  return ports
}

/**
 * Computes the sums over a list from those of an earlier list, before other code needs them. Unlike `without`, this
 * keeps no reference to the earlier list: lists of successive cycles must not keep each other in memory.
 */
export function derive(
  nodes: readonly SnapshotNode[],
  before: readonly SnapshotPod[],
  pods: readonly SnapshotPod[],
  left: readonly SnapshotPod[],
  added: readonly SnapshotPod[],
): void {
  const byPods = knownColumns.get(nodes)
  const known = byPods?.get(before)
  if (byPods && known) {
    byPods.set(pods, { columns: change(known.columns, left, nodeIndexOf(nodes), added) })
  }
  const rules = knownRules.get(before)
  const hasRules = ({ needs }: SnapshotPod) =>
    needs.podAffinity.length + needs.podAntiAffinity.length + needs.spread.length > 0
  if (rules?.labelKeys.length === 0 && rules.repelling.length === 0 && !added.some(hasRules))
    knownRules.set(pods, rules)
}

/** The columns after pods were removed and others were added. */
function change(
  parent: Columns,
  left: readonly SnapshotPod[],
  indexOf: NodeIndex,
  added: readonly SnapshotPod[] = [],
): Columns {
  const columns = { ...parent, free: parent.free.slice(), podsOn: parent.podsOn.slice() }
  add(columns, left, indexOf, -1)
  add(columns, added, indexOf, 1)
  const hasPorts = ({ needs }: SnapshotPod) => needs.hostPorts.length > 0
  if (!left.some(hasPorts) && !added.some(hasPorts)) return columns
  const ports = parent.ports.map(own => [...own])
  for (const { node, needs } of left) {
    const at = indexOf.get(node ?? '')
    if (at === undefined) continue
    for (const port of needs.hostPorts) {
      const position = ports[at]!.indexOf(port)
      if (position >= 0) ports[at]!.splice(position, 1)
    }
  }
  for (const { node, needs } of added) {
    const at = indexOf.get(node ?? '')
    if (at !== undefined) ports[at]!.push(...needs.hostPorts)
  }
  return { ...columns, ports }
}

export function rulesOf(pods: readonly SnapshotPod[]): Rules {
  const cached = knownRules.get(pods)
  if (cached) return cached
  const origin = parents.get(pods)
  const rules =
    origin && rulesOf(origin.parent).labelKeys.length === 0
      ? rulesOf(origin.parent)
      : {
          labelKeys: keysReadBy(pods),
          repelling: pods.filter(({ needs }) => needs.podAntiAffinity.length > 0),
        }
  knownRules.set(pods, rules)
  return rules
}

/** Positions of nodes by name. */
export type NodeIndex = Pick<ReadonlyMap<string, number>, 'get' | 'has'>

const nodeIndexes = new WeakMap<readonly SnapshotNode[], NodeIndex>()

export function nodeIndexOf(nodes: readonly SnapshotNode[]): NodeIndex {
  let index = nodeIndexes.get(nodes)
  if (!index) {
    const before = nodeParents.get(nodes)
    index = before ? extendedIndex(nodeIndexOf(before), nodes, before.length) : indexFrom(nodes, 0)
    nodeIndexes.set(nodes, index)
  }
  return index
}

function indexFrom(nodes: readonly SnapshotNode[], first: number): Map<string, number> {
  const index = new Map<string, number>()
  for (let position = first; position < nodes.length; position++) index.set(nodes[position]!.name, position)
  return index
}

function extendedIndex(before: NodeIndex, nodes: readonly SnapshotNode[], first: number): NodeIndex {
  const added = indexFrom(nodes, first)
  return {
    get: name => added.get(name) ?? before.get(name),
    has: name => added.has(name) || before.has(name),
  }
}
