// SPDX-License-Identifier: Apache-2.0

// Simulated nodes: Node objects whose heartbeats and pods KWOK simulates.
import { type Api, ApiError } from './api.ts'
import { loopback } from './ports.ts'
import { waitFor } from './wait.ts'

/** The node label of each level of the topology. */
export const topologyLabels = {
  zone: 'topology.kubernetes.io/zone',
  block: 'kubernetes.io/block',
  rack: 'kubernetes.io/rack',
  hostname: 'kubernetes.io/hostname',
} as const

export interface Topology {
  readonly nodesPerRack: number
  readonly racksPerBlock: number
  readonly blocksPerZone: number
}

const defaultTopology: Topology = { nodesPerRack: 4, racksPerBlock: 4, blocksPerZone: 4 }

export interface NodeSpec {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[]
  /** Overrides or extends the default of 64 CPUs, 512Gi of memory and 250 pods. */
  readonly capacity?: Readonly<Record<string, string>>
}

export interface NodeDefaults {
  /** `nvidia.com/gpu` on every node. Default: none. */
  readonly gpus?: number
  readonly topology?: Topology
}

/** Returns nodes `node-000`, `node-001` …, which fill the racks, blocks and zones in order. */
export function nodeSpecs(
  count: number,
  { gpus, topology = defaultTopology }: NodeDefaults = {},
  first = 0,
): NodeSpec[] {
  return Array.from({ length: count }, (_, offset) => {
    const index = first + offset
    const rack = Math.floor(index / topology.nodesPerRack)
    const block = Math.floor(rack / topology.racksPerBlock)
    const zone = Math.floor(block / topology.blocksPerZone)
    return {
      name: `node-${String(index).padStart(3, '0')}`,
      labels: {
        [topologyLabels.zone]: `zone-${zone}`,
        'kubernetes.io/zone': `zone-${zone}`,
        [topologyLabels.block]: `block-${block}`,
        [topologyLabels.rack]: `rack-${rack}`,
      },
      ...(gpus ? { capacity: { 'nvidia.com/gpu': String(gpus) } } : {}),
    }
  })
}

export function nodeObject({ name, labels, annotations, taints, capacity }: NodeSpec) {
  const resources = { cpu: '64', memory: '512Gi', 'ephemeral-storage': '1Ti', pods: '250', ...capacity }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      annotations: { 'kwok.x-k8s.io/node': 'fake', ...annotations },
      labels: {
        [topologyLabels.hostname]: name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        type: 'kwok',
        ...labels,
      },
    },
    spec: taints ? { taints } : {},
    status: {
      capacity: resources,
      allocatable: resources,
      // kube-apiserver dials this address for logs and exec. KWOK listens on loopback.
      addresses: [
        { type: 'InternalIP', address: loopback },
        { type: 'Hostname', address: name },
      ],
    },
  }
}

interface Node {
  readonly metadata: { readonly name: string; readonly resourceVersion: string }
  readonly spec: { readonly taints?: readonly { readonly key: string }[] }
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

/**
 * Creates the nodes and returns when all are Ready and without the not-ready taint. The node lifecycle controller would
 * remove that taint seconds later, or never if it does not run.
 */
export async function createNodes(
  api: Api,
  specs: readonly NodeSpec[],
  kwok: boolean,
  signal?: AbortSignal,
): Promise<void> {
  if (specs.length === 0) return
  await Promise.all(specs.map(spec => createNode(api, spec, kwok)))
  const wanted = new Set(specs.map(spec => spec.name))
  await waitFor(
    `${specs.length} nodes to be Ready`,
    async () => {
      const { items } = await api.request<{ items: Node[] }>('GET', '/api/v1/nodes?resourceVersion=0')
      const ready = items.filter(node => wanted.has(node.metadata.name) && isReady(node))
      await Promise.all(ready.filter(isTainted).map(node => removeTaint(api, node)))
      return ready.filter(node => !isTainted(node)).length === wanted.size
    },
    { timeoutMs: 120_000, signal },
  )
}

async function createNode(api: Api, spec: NodeSpec, kwok: boolean): Promise<void> {
  const node = nodeObject(spec)
  // Without KWOK, no component reports the node's status, so it is set to Ready once.
  const conditions = [{ type: 'Ready', status: 'True', reason: 'Declared', lastHeartbeatTime: new Date() }]
  const body = kwok ? node : { ...node, status: { ...node.status, conditions } }
  try {
    await api.request('POST', '/api/v1/nodes', { body })
  } catch (error) {
    // A control plane that starts on the data of an earlier one already has its nodes.
    if (!(error instanceof ApiError && error.status === 409)) throw error
  }
}

function isReady(node: Node): boolean {
  return node.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}

const notReady = 'node.kubernetes.io/not-ready'

function isTainted(node: Node): boolean {
  return node.spec.taints?.some(({ key }) => key === notReady) ?? false
}

async function removeTaint(api: Api, { metadata, spec }: Node): Promise<void> {
  const taints = spec.taints?.filter(({ key }) => key !== notReady)
  try {
    await api.request('PATCH', `/api/v1/nodes/${metadata.name}`, {
      body: { metadata: { resourceVersion: metadata.resourceVersion }, spec: { taints } },
      contentType: 'application/merge-patch+json',
    })
  } catch (error) {
    // Another client has changed the node since it was read; the next attempt reads it again.
    if (!(error instanceof ApiError && error.status === 409)) throw error
  }
}
