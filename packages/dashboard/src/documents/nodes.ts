// SPDX-License-Identifier: Apache-2.0

// The nodes by topology domain, with the devices that their pods use.
import { type ClusterTopologyBinding, label, type TopologyLevel } from '@grove/api'
import type { CachedNode, CachedPod, Devices } from '../caches/projections.ts'
import { mostNodes } from './limits.ts'
import type { DeviceUse, DomainDocument, NodeRow, NodesDocument, Notes } from './types.ts'

const hostnameKey = 'kubernetes.io/hostname'
/** Used when the cluster has no ClusterTopologyBinding. */
const zone: TopologyLevel = { domain: 'zone', key: 'topology.kubernetes.io/zone' }

export interface NodesInput {
  readonly nodes: readonly CachedNode[]
  readonly pods: readonly CachedPod[]
  readonly topologyBindings: readonly ClusterTopologyBinding[]
}

interface LabelledRow {
  readonly row: NodeRow
  readonly labels: Readonly<Record<string, string>>
}

export function nodesDocument({ nodes, pods, topologyBindings }: NodesInput, notes: Notes): NodesDocument {
  const levels = levelsOf(topologyBindings, nodes)
  const podsOf = Map.groupBy(
    pods.filter(({ spec }) => spec?.nodeName),
    ({ spec }) => spec?.nodeName ?? '',
  )
  const all = nodes
    .map(node => ({
      row: nodeRow(node, podsOf.get(node.metadata.name ?? '') ?? []),
      labels: node.metadata.labels ?? {},
    }))
    .sort((one, other) => compare(one.row.name, other.row.name))
  const budget = { rows: mostNodes }
  const root = domainOf({ level: '', name: 'cluster' }, all, levels, budget)
  return {
    devices: Object.keys(root.devices).sort(),
    levels: levels.map(({ domain }) => domain),
    root,
    hiddenNodes: Math.max(0, nodes.length - mostNodes),
    notes,
  }
}

/** The levels of the first binding by name. A level of single nodes is left out, because nodes are listed anyway. */
function levelsOf(
  bindings: readonly ClusterTopologyBinding[],
  nodes: readonly CachedNode[],
): TopologyLevel[] {
  const [first] = bindings.toSorted((one, other) =>
    compare(one.metadata.name ?? '', other.metadata.name ?? ''),
  )
  if (first) return first.spec.levels.filter(({ key }) => key !== hostnameKey)
  return nodes.some(({ metadata }) => metadata.labels?.[zone.key] !== undefined) ? [zone] : []
}

function domainOf(
  { level, name }: Pick<DomainDocument, 'level' | 'name'>,
  members: readonly LabelledRow[],
  levels: readonly TopologyLevel[],
  budget: { rows: number },
): DomainDocument {
  const [next, ...rest] = levels
  const byValue = next ? Map.groupBy(members, ({ labels }) => labels[next.key]) : undefined
  const outside = byValue?.get(undefined) ?? []
  byValue?.delete(undefined)
  const children = [...(byValue ?? [])]
    .sort(([one], [other]) => compare(one ?? '', other ?? ''))
    .map(([value, inside]) =>
      domainOf({ level: next?.domain ?? '', name: value ?? '' }, inside, rest, budget),
    )
  const listed = (next ? outside : members).slice(0, budget.rows)
  budget.rows -= listed.length
  return {
    level,
    name,
    nodes: members.length,
    readyNodes: members.filter(({ row }) => row.isReady && !row.isCordoned).length,
    devices: totalOf(members.map(({ row }) => row.devices)),
    children,
    rows: listed.map(({ row }) => row),
  }
}

function nodeRow({ metadata, spec, status, devices }: CachedNode, pods: readonly CachedPod[]): NodeRow {
  const use = (of: Devices, what: 'allocatable' | 'used') =>
    Object.fromEntries(
      Object.entries(of).map(([name, amount]) => [name, { allocatable: 0, used: 0, [what]: amount }]),
    )
  return {
    name: metadata.name,
    isReady: status?.conditions?.some(each => each.type === 'Ready' && each.status === 'True') ?? false,
    isCordoned: spec?.unschedulable ?? false,
    devices: totalOf([use(devices, 'allocatable'), ...pods.map(pod => use(pod.devices ?? {}, 'used'))]),
    pods: pods.filter(pod => pod.metadata.labels?.[label.podClique] !== undefined).length,
  }
}

function totalOf(parts: readonly DeviceUse[]): DeviceUse {
  const total: Record<string, { allocatable: number; used: number }> = {}
  for (const part of parts)
    for (const [name, { allocatable, used }] of Object.entries(part)) {
      const before = total[name] ?? { allocatable: 0, used: 0 }
      total[name] = { allocatable: before.allocatable + allocatable, used: before.used + used }
    }
  return total
}

function compare(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true })
}
