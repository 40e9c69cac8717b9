// SPDX-License-Identifier: Apache-2.0

// Describes the nodes of a cluster compactly.

export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
}

/** The capacity of a node. Quantities as in Kubernetes: `8`, `500m`, `64Gi`. */
export interface NodeShape {
  readonly cpu?: string
  readonly memory?: string
  readonly pods?: number
  readonly gpus?: number
  /** The resource name of GPUs. */
  readonly gpuResource?: string
  /** Further resources: `rdma/hca: "8"`. */
  readonly resources?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  readonly taints?: readonly Taint[]
}

/** Nodes of one shape, as a count or as a topology. */
export interface NodeGroup extends NodeShape {
  /** The prefix of node names. Default: `node`. */
  readonly name?: string
  readonly count?: number
  /**
   * The number of domains on each level, from the broadest: zones, blocks per zone, racks per block, hosts
   * per rack. Replaces `count`.
   */
  readonly zones?: number
  readonly blocks?: number
  readonly racks?: number
  readonly hosts?: number
}

export interface Topology {
  readonly nodes: readonly NodeGroup[]
  /** The label key of each level. Default: the keys of the playground. */
  readonly labels?: Partial<TopologyLabels>
}

export interface TopologyLabels {
  readonly zone: string
  readonly block: string
  readonly rack: string
  readonly host: string
}

export const defaultTopologyLabels: TopologyLabels = {
  zone: 'topology.kubernetes.io/zone',
  block: 'topology.kubernetes.io/block',
  rack: 'topology.kubernetes.io/rack',
  host: 'kubernetes.io/hostname',
}

/** Hosts per rack, racks per block and blocks per zone, if only a number of nodes is given. */
const usualGroup = 4

export interface NodePlan extends NodeShape {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

/** Returns the nodes of a topology, in order. The same description gives the same names and domains. */
export function planNodes(topology: Topology): NodePlan[] {
  const labels = { ...defaultTopologyLabels, ...topology.labels }
  const plans: NodePlan[] = []
  const taken = new Map<string, number>()
  for (const group of topology.nodes) {
    const prefix = group.name ?? 'node'
    for (const domain of domainsOf(group)) {
      const index = taken.get(prefix) ?? 0
      taken.set(prefix, index + 1)
      const name = `${prefix}-${index}`
      plans.push({
        ...group,
        name,
        labels: { ...domainLabels(domain, labels), [labels.host]: name, ...group.labels },
      })
    }
  }
  return plans
}

/** Returns `count` equal nodes. */
export function plainNodes(count: number, shape: NodeShape = {}): NodePlan[] {
  return planNodes({ nodes: [{ ...shape, count }] })
}

type Domain = readonly [zone: number, block: number, rack: number]

function* domainsOf({ count, zones, blocks, racks, hosts }: NodeGroup): Iterable<Domain> {
  if (zones === undefined && blocks === undefined && racks === undefined && hosts === undefined) {
    for (let index = 0; index < (count ?? 1); index++) {
      const rack = Math.floor(index / usualGroup)
      const block = Math.floor(rack / usualGroup)
      yield [Math.floor(block / usualGroup), block, rack]
    }
    return
  }
  for (let zone = 0; zone < (zones ?? 1); zone++)
    for (let block = 0; block < (blocks ?? 1); block++)
      for (let rack = 0; rack < (racks ?? 1); rack++) {
        const wholeBlock = zone * (blocks ?? 1) + block
        const wholeRack = wholeBlock * (racks ?? 1) + rack
        for (let host = 0; host < (hosts ?? 1); host++) yield [zone, wholeBlock, wholeRack]
      }
}

function domainLabels([zone, block, rack]: Domain, labels: TopologyLabels): Record<string, string> {
  return {
    [labels.zone]: `zone-${zone}`,
    [labels.block]: `block-${block}`,
    [labels.rack]: `rack-${rack}`,
  }
}
