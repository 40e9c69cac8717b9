// SPDX-License-Identifier: Apache-2.0

// Clusters and gangs of the benchmark, as Kubernetes objects.
import type { ClusterTopologyBinding, Node, Pod, PodGang } from '@grove/api'
import {
  type GangOptions,
  type GroupOptions,
  gpu,
  memberPod,
  node,
  pod,
  podGang,
  topologyBinding,
} from '../src/testing/objects.ts'

const levels = ['zone', 'block', 'rack', 'host'] as const
export const keyOf = (level: (typeof levels)[number]): string =>
  level === 'host' ? 'kubernetes.io/hostname' : `bench.example.com/${level}`

export const fabric: ClusterTopologyBinding = topologyBinding(
  'fabric',
  Object.fromEntries(levels.map(level => [level, keyOf(level)])),
)

export const gpuNode: Record<string, string> = { cpu: '128', memory: '1Ti', pods: '110', [gpu]: '8' }
/** The node of Kubernetes' scheduler_perf benchmark. */
export const smallNode: Record<string, string> = { cpu: '4', memory: '32Gi', pods: '110' }

export interface Fabric {
  readonly nodes: number
  readonly nodesPerRack: number
  readonly racksPerBlock: number
  readonly blocksPerZone: number
}

/** Nodes in a regular tree of racks, blocks and zones. */
export function nodesIn(fabric: Fabric, allocatable: Record<string, string> = gpuNode): Node[] {
  return Array.from({ length: fabric.nodes }, (_, i) => {
    const rack = Math.floor(i / fabric.nodesPerRack)
    const block = Math.floor(rack / fabric.racksPerBlock)
    const zone = Math.floor(block / fabric.blocksPerZone)
    const labels = { [keyOf('rack')]: `r${rack}`, [keyOf('block')]: `b${block}`, [keyOf('zone')]: `z${zone}` }
    return node(`node-${String(i).padStart(5, '0')}`, allocatable, { labels })
  })
}

export interface BenchGang {
  readonly name: string
  readonly groups: readonly (GroupOptions & { readonly requests: Record<string, string> })[]
  readonly options?: GangOptions
}

export function gangObjects(gangs: readonly BenchGang[]): { podGangs: PodGang[]; pods: Pod[] } {
  return {
    podGangs: gangs.map(({ name, groups, options }) =>
      podGang(name, groups, { topology: 'fabric', ...options }),
    ),
    pods: gangs.flatMap(({ name, groups }) =>
      groups.flatMap(({ name: clique, min, requests }) =>
        Array.from({ length: min }, (_, i) => memberPod(name, clique, i, requests)),
      ),
    ),
  }
}

/** A number of equal gangs with one group each. */
export function equalGangs(
  count: number,
  pods: number,
  requests: Record<string, string>,
  options: GangOptions = {},
): BenchGang[] {
  return Array.from({ length: count }, (_, i) => {
    const name = `gang-${String(i).padStart(5, '0')}`
    return { name, groups: [{ name: `${name}-worker`, min: pods, requests }], options }
  })
}

/** Bound pods of another scheduler: `perNode` on every node. */
export function fillers(
  nodes: readonly Node[],
  perNode: (index: number) => number,
  requests: Record<string, string>,
): Pod[] {
  return nodes.flatMap(({ metadata }, at) =>
    Array.from({ length: perNode(at) }, (_, i) =>
      pod(`filler-${metadata.name}-${i}`, requests, { node: metadata.name }),
    ),
  )
}
