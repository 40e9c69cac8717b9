// SPDX-License-Identifier: Apache-2.0

// The shapes of the benchmark: one cluster and its gangs each, with the target of the design.
import { gpu } from '../src/testing/objects.ts'
import type { SnapshotObjects } from '../src/types.ts'
import {
  type BenchGang,
  equalGangs,
  type Fabric,
  fabric,
  fillers,
  gangObjects,
  keyOf,
  nodesIn,
  smallNode,
} from './clusters.ts'

export interface BenchShape {
  readonly name: string
  readonly objects: () => SnapshotObjects
  /** Target for one plan in milliseconds of processor time. */
  readonly targetMs: number
  /** Gangs that must be Scheduled; the others must wait. */
  readonly scheduled: number
  readonly pods: number
  readonly fixes?: boolean
  /** Pods that are evicted. Absent: preemption is disabled. */
  readonly evicted?: number
}

const cluster500: Fabric = { nodes: 500, nodesPerRack: 20, racksPerBlock: 5, blocksPerZone: 5 }
const cluster512: Fabric = { nodes: 512, nodesPerRack: 16, racksPerBlock: 8, blocksPerZone: 2 }
const cluster1000: Fabric = { nodes: 1000, nodesPerRack: 20, racksPerBlock: 10, blocksPerZone: 5 }
const cluster5000: Fabric = { nodes: 5000, nodesPerRack: 20, racksPerBlock: 5, blocksPerZone: 10 }
const fiftyRacks: Fabric = { nodes: 5000, nodesPerRack: 100, racksPerBlock: 5, blocksPerZone: 10 }

function built(
  where: Fabric,
  gangs: readonly BenchGang[],
  allocatable?: Record<string, string>,
  others: (nodes: ReturnType<typeof nodesIn>) => SnapshotObjects['pods'] = () => [],
): SnapshotObjects {
  const nodes = nodesIn(where, allocatable)
  const { podGangs, pods } = gangObjects(gangs)
  return { nodes, podGangs, pods: [...pods, ...others(nodes)], topologyBindings: [fabric] }
}

const whole = { [gpu]: '8', cpu: '64' }
const half = { [gpu]: '4', cpu: '32' }
const one = { [gpu]: '1', cpu: '4' }
const oneCpu = { cpu: '1', memory: '1Gi' }

/** A target as a rate. */
const at = (pods: number, perSecond = 8000) => (pods * 1000) / perSecond

function composite(count: number, groups: number, pods: number, required: string): BenchGang[] {
  return Array.from({ length: count }, (_, i) => {
    const name = `gang-${String(i).padStart(5, '0')}`
    return {
      name,
      groups: Array.from({ length: groups }, (_, group) => ({
        name: `${name}-${group}`,
        min: pods,
        requests: oneCpu,
        required,
      })),
    }
  })
}

const priorityClasses: NonNullable<SnapshotObjects['priorityClasses']> = [
  { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 1000 },
]

/** Nodes that gangs of one pod without priority fill, and gangs of higher priority that need them. */
function full(gangs: readonly BenchGang[]): SnapshotObjects {
  const nodes = nodesIn(cluster500)
  const victims = gangObjects(
    nodes.map(({ metadata }) => {
      const name = `victim-${metadata.name}`
      return { name, groups: [{ name, min: 1, requests: whole }] }
    }),
  )
  const { podGangs, pods } = gangObjects(gangs)
  return {
    nodes,
    topologyBindings: [fabric],
    priorityClasses,
    podGangs: [...victims.podGangs, ...podGangs],
    pods: [
      ...victims.pods.map((entry, at) => ({
        ...entry,
        spec: { ...entry.spec, nodeName: nodes[at]!.metadata.name },
      })),
      ...pods,
    ],
  }
}

export const shapes: readonly BenchShape[] = [
  {
    name: '512-pod gang, 512 nodes',
    objects: () => built(cluster512, equalGangs(1, 512, whole)),
    targetMs: 100,
    scheduled: 1,
    pods: 512,
  },
  {
    name: '512-pod gang, 512 nodes, preferred rack',
    objects: () => built(cluster512, equalGangs(1, 512, whole, { preferred: keyOf('rack') })),
    targetMs: 100,
    scheduled: 1,
    pods: 512,
  },
  {
    name: '512 one-GPU pods, 500 nodes',
    objects: () => built(cluster500, equalGangs(1, 512, one)),
    targetMs: 100,
    scheduled: 1,
    pods: 512,
  },
  {
    name: '156 gangs of 64 pods, 5,000 nodes, required block, preferred rack',
    objects: () =>
      built(cluster5000, equalGangs(156, 64, half, { required: keyOf('block'), preferred: keyOf('rack') })),
    targetMs: at(156 * 64),
    // A block of 100 nodes holds three gangs of 32 nodes; 50 blocks hold 150.
    scheduled: 150,
    pods: 156 * 64,
  },
  {
    name: '156 gangs of 64 pods, 5,000 nodes, preferred rack',
    objects: () => built(cluster5000, equalGangs(156, 64, half, { preferred: keyOf('rack') })),
    targetMs: at(156 * 64),
    scheduled: 156,
    pods: 156 * 64,
  },
  {
    name: '156 gangs of 64 pods, leader and workers, 5,000 nodes, required zone, preferred block',
    objects: () =>
      built(
        cluster5000,
        equalGangs(156, 63, half, { required: keyOf('zone'), preferred: keyOf('block') }).map(gang => ({
          ...gang,
          groups: [{ name: `${gang.name}-leader`, min: 1, requests: one }, ...gang.groups],
        })),
      ),
    targetMs: at(156 * 64),
    // A zone of 1,000 nodes holds 2,000 workers: 31 gangs.
    scheduled: 155,
    pods: 156 * 64,
  },
  {
    name: '3,000 gangs of 3 pods, 5,000 nodes',
    objects: () => built(fiftyRacks, equalGangs(3000, 3, oneCpu), smallNode),
    targetMs: at(9000),
    scheduled: 3000,
    pods: 9000,
  },
  {
    name: '9 gangs of 1,000 pods, 5,000 nodes',
    objects: () => built(fiftyRacks, equalGangs(9, 1000, oneCpu), smallNode),
    targetMs: at(9000),
    scheduled: 9,
    pods: 9000,
  },
  {
    name: '2,250 gangs of 4 pods, 5,000 nodes, required rack of 50',
    objects: () => built(fiftyRacks, equalGangs(2250, 4, oneCpu, { required: keyOf('rack') }), smallNode),
    targetMs: at(9000),
    scheduled: 2250,
    pods: 9000,
  },
  {
    name: '1,500 gangs of 2 groups of 3 pods, 5,000 nodes, each group in one rack',
    objects: () => built(fiftyRacks, composite(1500, 2, 3, keyOf('rack')), smallNode),
    targetMs: at(9000),
    scheduled: 1500,
    pods: 9000,
  },
  {
    name: '3 gangs of 2 groups of 1,500 pods, 5,000 nodes, each group in one block',
    objects: () => built(fiftyRacks, composite(3, 2, 1500, keyOf('block')), smallNode),
    targetMs: at(9000),
    scheduled: 3,
    pods: 9000,
  },
  {
    name: '100 gangs of 64 pods, 1,000 nodes',
    objects: () => built(cluster1000, equalGangs(100, 64, one)),
    targetMs: 1000,
    scheduled: 100,
    pods: 6400,
  },
  {
    name: '4,000 gangs of one pod, 500 nodes',
    objects: () => built(cluster500, equalGangs(4000, 1, one)),
    targetMs: 1000,
    scheduled: 4000,
    pods: 4000,
  },
  ...[500, 5000].map(
    (count): BenchShape => ({
      name: `proof that a gang of 10 pods cannot run, ${count} nodes`,
      objects: () =>
        built({ ...cluster5000, nodes: count }, equalGangs(1, 10, whole), undefined, nodes =>
          fillers(nodes, i => (i < 9 ? 0 : 1), one),
        ),
      targetMs: 100,
      scheduled: 0,
      pods: 10,
    }),
  ),
  ...[500, 5000].map(
    (count): BenchShape => ({
      name: `proof with preemption enabled that a gang of 10 pods cannot run, ${count} nodes full of one-GPU pods of equal priority`,
      objects: () =>
        built({ ...cluster5000, nodes: count }, equalGangs(1, 10, whole), undefined, nodes =>
          fillers(nodes, () => 8, one),
        ),
      targetMs: 1000,
      scheduled: 0,
      pods: 10,
      evicted: 0,
    }),
  ),
  {
    name: 'preempt for a gang of 250 pods, 500 full nodes',
    objects: () => full(equalGangs(1, 250, whole, { priorityClassName: 'high' })),
    targetMs: 1000,
    scheduled: 500,
    pods: 250,
    evicted: 250,
  },
  {
    name: 'preempt for 50 gangs of 10 pods, 500 full nodes',
    objects: () => full(equalGangs(50, 10, whole, { priorityClassName: 'high' })),
    targetMs: 1000,
    scheduled: 500,
    pods: 500,
    evicted: 500,
  },
  {
    name: 'proof and cause for 50 waiting gangs behind 50 others, 1,000 nodes',
    objects: () => built(cluster1000, equalGangs(100, 20, whole, { required: keyOf('rack') })),
    targetMs: 1000,
    scheduled: 50,
    pods: 2000,
  },
  ...(['required rack', 'no topology'] as const).map(
    (kind): BenchShape => ({
      name: `explain with fixes, ${kind}, 5,000 nodes, 50,000 pods`,
      objects: () =>
        built(
          cluster5000,
          equalGangs(
            1,
            kind === 'required rack' ? 17 : 800,
            whole,
            kind === 'required rack' ? { required: keyOf('rack') } : {},
          ),
          undefined,
          nodes =>
            fillers(nodes, i => (i % 10 === 0 ? 0 : i % 10 === 1 ? 7 : i % 9 === 2 ? 18 : 11), {
              cpu: '1',
              ...{ [gpu]: '0' },
            }).concat(
              fillers(nodes, i => (i % 10 === 0 ? 0 : 1), one).map(entry => ({
                ...entry,
                metadata: { ...entry.metadata, name: `gpu-${entry.metadata.name}` },
              })),
            ),
        ),
      targetMs: 100,
      scheduled: 0,
      pods: 50_000,
      fixes: true,
    }),
  ),
]
