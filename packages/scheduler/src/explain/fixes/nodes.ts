// SPDX-License-Identifier: Apache-2.0
import { selectsNode } from '../../filters/node-selector.ts'
import { canonicalText } from '../../order.ts'
import { need } from '../../planner/gang-demand.ts'
import { allScopes } from '../../planner/scopes.ts'
import type { Fix, SnapshotNode } from '../../types.ts'
import { distinct } from '../evidence.ts'
import { type Search, smallestSet, smallestWorking } from './search.ts'

const hostnameKey = 'kubernetes.io/hostname'

/** Clusters of at most this many nodes are searched completely. */
const fewNodes = 64

export function uncordon(search: Search): Fix | undefined {
  const { snapshot } = search
  const nodes = search.nearest
    .map(node => snapshot.nodes[node]!)
    .filter(({ unschedulable }) => unschedulable)
    .map(({ name }) => name)
  return smallestSet(nodes, chosen => ({ op: 'Uncordon', nodes: chosen, cost: chosen.length }), search)
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

/**
 * No smaller number of nodes of this kind is enough: by the room for pods of one shape in the domain of the kind. Earlier gangs
 * of this plan may move to the new nodes and leave more room.
 */
function leastNodes(search: Search, kind: SnapshotNode): number {
  const { model, task, shapes, snapshot, hasEarlier } = search
  const [shape] = shapes
  if (!shape || shapes.size > 1 || hasEarlier) return 1
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

export function addNodes(search: Search): Fix | undefined {
  const { gang, works, isMonotone } = search
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
    if (limit < 1) continue
    const least = Math.min(limit, leastNodes(search, kind))
    const count = smallestWorking(least, limit, isMonotone, count => works(fixOf(count, kind)))
    if (count !== undefined) best = { kind, count }
  }
  return best && fixOf(best.count, best.kind)
}
