// SPDX-License-Identifier: Apache-2.0

// Prepared situations, each with several obstacles in the cluster, of which one is the true cause. The explanation
// names it first, and the gang is scheduled once exactly this cause is removed.
import { equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Node, Pod, PodGang, PodSpec } from '@grove/api'
import { defaultPolicy, plan, snapshotFrom } from '../index.ts'
import { gpu, memberPod, node, pod, podGang, topologyBinding } from '../testing/objects.ts'
import type { ExplanationCode, Policy, SnapshotObjects } from '../types.ts'

const rackKey = 'example.com/rack'
const now = Date.UTC(2026, 0, 2)
const schedulerName = 'grove-scheduler'
const binding = topologyBinding('fabric', { rack: rackKey, host: 'kubernetes.io/hostname' })
const eight = { [gpu]: '8' }

const host = (name: string, rack = 'r1', options: Parameters<typeof node>[2] = {}) =>
  node(name, { ...eight, cpu: '64' }, { ...options, labels: { [rackKey]: rack, ...options.labels } })
/** Pods of gang g. */
const wanted = (count: number, requests: Record<string, string> = eight, spec: Partial<PodSpec> = {}) =>
  Array.from({ length: count }, (_, i) =>
    memberPod('g', 'c', i, requests, { spec: { schedulerName, ...spec } }),
  )
const holder = (at: string, requests: Record<string, string> = eight, options = {}) =>
  pod(`x-${at}`, requests, { node: at, ...options })
const gang = (min: number, options = {}) =>
  podGang('g', [{ name: 'c', min }], { topology: 'fabric', ...options })

/** Obstacles without an effect: nodes and pods too small to matter for pods of eight GPUs. */
const decoyNodes: Node[] = [
  node('decoy-cordoned', { [gpu]: '1', pods: '1' }, { unschedulable: true, labels: { [rackKey]: 'r9' } }),
  node(
    'decoy-tainted',
    { [gpu]: '1', pods: '1' },
    { taints: [{ key: 'decoy', effect: 'NoSchedule' }], labels: { [rackKey]: 'r9' } },
  ),
]
const decoyPods: Pod[] = [pod('decoy', { cpu: '0' }, { node: 'decoy-cordoned', terminating: true })]

interface Situation {
  readonly title: string
  readonly code: ExplanationCode
  readonly objects: SnapshotObjects
  /** The cluster without the cause. */
  readonly remedy: Partial<SnapshotObjects>
  readonly name?: string
  readonly policy?: Partial<Policy>
  /** The policy without the cause, if the cause is a setting. */
  readonly remedyPolicy?: Partial<Policy>
}

function situation(
  code: ExplanationCode,
  title: string,
  objects: { nodes: Node[]; pods: Pod[]; podGangs: PodGang[] } & Omit<
    Partial<SnapshotObjects>,
    'nodes' | 'pods' | 'podGangs'
  >,
  remedy: Partial<SnapshotObjects>,
  rest: Pick<Situation, 'name' | 'policy' | 'remedyPolicy'> = {},
): Situation {
  return { code, title, objects: { topologyBindings: [binding], ...objects }, remedy, ...rest }
}

const two = [host('a'), host('b')]
const antiAffinity = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'noisy' } } },
      ],
    },
  },
}
const hostPort = {
  containers: [
    { name: 'main', resources: { requests: eight }, ports: [{ containerPort: 80, hostPort: 8080 }] },
  ],
} as Partial<PodSpec>
const volume = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] } as Partial<PodSpec>
const claim = { metadata: { name: 'data', namespace: 'default' }, spec: { volumeName: 'pv' } }
const volumeOn = (name: string) => ({
  metadata: { name: 'pv' },
  spec: {
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [name] }] },
        ],
      },
    },
  },
})
const reserving = { reservation: { afterSeconds: 60, maxNodesPercent: 100 } }
const waiting = podGang('first', [{ name: 'd', min: 2 }], {
  createdAt: '2026-01-01T00:00:00Z',
  waitingSince: '2026-01-01T00:00:00Z',
})
const base = podGang('base', [{ name: 'd', min: 1 }])
const scaled = memberPod('g', 'c', 0, eight, { baseGang: 'base' })
const highClass = {
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name: 'high' },
  value: 10,
} as const

const situations: readonly Situation[] = [
  situation(
    'UnsupportedConstraint',
    'pods use devices, which the scheduler does not read',
    {
      nodes: two,
      pods: wanted(1, eight, { resourceClaims: [{ name: 'd' }] } as Partial<PodSpec>),
      podGangs: [gang(1)],
    },
    { pods: wanted(1) },
  ),
  situation(
    'TopologyLevelUnlabelled',
    'no node has the label of the required level',
    { nodes: two, pods: wanted(1), podGangs: [gang(1, { required: 'example.com/block' })] },
    { podGangs: [gang(1, { required: rackKey })] },
  ),
  situation(
    'PriorityClassNotFound',
    'the priority class is misspelled',
    { nodes: two, pods: wanted(1), podGangs: [gang(1, { priorityClassName: 'high' })] },
    { priorityClasses: [highClass] },
  ),
  situation(
    'ClaimNotFound',
    'the volume claim is missing',
    { nodes: two, pods: wanted(1, eight, volume), podGangs: [gang(1)], persistentVolumes: [volumeOn('a')] },
    { persistentVolumeClaims: [claim] },
  ),
  situation(
    'ResourceUnknown',
    'no node offers the resource',
    { nodes: two, pods: wanted(1, { 'example.com/fpga': '1' }), podGangs: [gang(1)] },
    { nodes: [...two, node('f', { 'example.com/fpga': '1' })] },
  ),
  situation(
    'SelectorMatchesNoNode',
    'the node selector matches no node',
    { nodes: two, pods: wanted(1, eight, { nodeSelector: { pool: 'x' } }), podGangs: [gang(1)] },
    { nodes: [host('a', 'r1', { labels: { pool: 'x' } }), host('b')] },
  ),
  situation(
    'PodsNotCreated',
    'a pod of the minimum does not exist',
    { nodes: two, pods: wanted(1), podGangs: [gang(2)] },
    { pods: wanted(2) },
  ),
  situation(
    'PodsNotCreated',
    'the operator has not completed the gang',
    { nodes: two, pods: wanted(1), podGangs: [gang(1, { notInitialized: true })] },
    { podGangs: [gang(1)] },
  ),
  situation(
    'PodsGated',
    'a gate of another controller is left',
    {
      nodes: two,
      pods: wanted(1, eight, { schedulingGates: [{ name: 'example.com/quota' }] }),
      podGangs: [gang(1)],
    },
    { pods: wanted(1) },
  ),
  situation(
    'BaseGangNotScheduled',
    'the base gang does not fit',
    {
      nodes: two,
      pods: [scaled, memberPod('base', 'd', 0, { [gpu]: '9' })],
      podGangs: [gang(1), base],
    },
    { pods: [scaled, memberPod('base', 'd', 0, eight)] },
  ),
  situation(
    'PodTooLarge',
    'a pod needs nine GPUs and nodes have eight',
    { nodes: two, pods: [...wanted(1, { [gpu]: '9' }), holder('a')], podGangs: [gang(1)] },
    { nodes: [...two, node('big', { [gpu]: '16' })] },
  ),
  situation(
    'ClusterTooSmall',
    'all nodes together are too small',
    { nodes: two, pods: [...wanted(3), holder('a')], podGangs: [gang(3)] },
    { nodes: [...two, host('c'), host('d')] },
  ),
  situation(
    'DomainTooSmall',
    'no rack is large enough',
    { nodes: [...two, host('c', 'r2')], pods: wanted(3), podGangs: [gang(3, { required: rackKey })] },
    { podGangs: [gang(3)] },
  ),
  situation(
    'PinnedDomainFull',
    'running pods hold the gang in a full rack',
    {
      nodes: [...two, host('c', 'r2'), host('d', 'r2')],
      pods: [memberPod('g', 'c', 5, eight, { node: 'a' }), ...wanted(1), holder('b')],
      podGangs: [gang(2, { required: rackKey })],
    },
    { pods: [memberPod('g', 'c', 5, eight, { node: 'a' }), ...wanted(1)] },
  ),
  situation(
    'Terminating',
    'a terminating pod still holds its node',
    { nodes: two, pods: [...wanted(2), holder('a', eight, { terminating: true })], podGangs: [gang(2)] },
    { pods: wanted(2) },
  ),
  situation(
    'NodesNotReady',
    'a node is not ready',
    {
      nodes: [
        host('a'),
        host('b', 'r1', { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] }),
      ],
      pods: wanted(2),
      podGangs: [gang(2)],
    },
    { nodes: two },
  ),
  situation(
    'NodesCordoned',
    'a node is cordoned',
    { nodes: [host('a'), host('b', 'r1', { unschedulable: true })], pods: wanted(2), podGangs: [gang(2)] },
    { nodes: two },
  ),
  situation(
    'TaintsNotTolerated',
    'a node is dedicated to others',
    {
      nodes: [host('a'), host('b', 'r1', { taints: [{ key: 'dedicated', effect: 'NoSchedule' }] })],
      pods: wanted(2),
      podGangs: [gang(2)],
    },
    { pods: wanted(2, eight, { tolerations: [{ key: 'dedicated', operator: 'Exists' }] }) },
  ),
  situation(
    'HeldForEarlierGang',
    'an older gang takes the nodes',
    {
      nodes: two,
      pods: [...wanted(1), ...[0, 1].map(i => memberPod('first', 'd', i, eight))],
      podGangs: [
        gang(1, { createdAt: '2026-01-02T00:00:00Z' }),
        podGang('first', [{ name: 'd', min: 2 }], { createdAt: '2026-01-01T00:00:00Z' }),
      ],
    },
    { podGangs: [gang(1, { createdAt: '2026-01-02T00:00:00Z' })], pods: wanted(1) },
  ),
  situation(
    'Reserved',
    'an older gang has waited for long and keeps a node free',
    {
      nodes: two,
      pods: [...wanted(1), holder('a'), ...[0, 1].map(i => memberPod('first', 'd', i, eight))],
      podGangs: [gang(1, { createdAt: '2026-01-02T00:00:00Z' }), waiting],
    },
    {},
    { policy: reserving, remedyPolicy: {} },
  ),
  situation(
    'PortsInUse',
    'the host port is in use',
    {
      nodes: two,
      pods: [
        ...wanted(2, eight, hostPort),
        pod(
          'x',
          {},
          {
            node: 'a',
            spec: {
              containers: [{ name: 'm', ports: [{ containerPort: 80, hostPort: 8080 }] }],
            } as Partial<PodSpec>,
          },
        ),
      ],
      podGangs: [gang(2)],
    },
    { pods: wanted(2, eight, hostPort) },
  ),
  situation(
    'PodAffinityUnsatisfied',
    'a pod that the gang avoids runs on a node',
    {
      nodes: two,
      pods: [...wanted(2, eight, antiAffinity), pod('x', {}, { node: 'a', labels: { app: 'noisy' } })],
      podGangs: [gang(2)],
    },
    { pods: wanted(2, eight, antiAffinity) },
  ),
  situation(
    'VolumeUnavailable',
    'the volume is on a node that is full',
    {
      nodes: two,
      pods: [...wanted(1, eight, volume), holder('a')],
      podGangs: [gang(1)],
      persistentVolumes: [volumeOn('a')],
      persistentVolumeClaims: [claim],
    },
    { persistentVolumes: [volumeOn('b')] },
  ),
  situation(
    'PodLimitReached',
    'a node has GPUs but no pod slot',
    {
      nodes: [node('a', { ...eight, pods: '1' }), host('b')],
      pods: [...wanted(2), holder('a', {})],
      podGangs: [gang(2)],
    },
    { nodes: two },
  ),
  situation(
    'NoDomainFits',
    'every rack lacks one node',
    {
      nodes: [...two, host('c', 'r2'), host('d', 'r2')],
      pods: [...wanted(2), holder('a'), holder('c')],
      podGangs: [gang(2, { required: rackKey })],
    },
    { podGangs: [gang(2)] },
  ),
  situation(
    'NodesFragmented',
    'half of every node is free',
    {
      nodes: two,
      pods: [...wanted(1), holder('a', { [gpu]: '4' }), holder('b', { [gpu]: '4' })],
      podGangs: [gang(1)],
    },
    { pods: [...wanted(1), holder('a', { [gpu]: '4' })] },
  ),
  situation(
    'InsufficientCapacity',
    'other pods hold a node',
    { nodes: two, pods: [...wanted(2), holder('a')], podGangs: [gang(2)] },
    { pods: wanted(2) },
  ),
  situation(
    'BudgetExhausted',
    'the search ends before a result',
    {
      nodes: [host('a'), host('b'), host('c', 'r2')],
      pods: [...wanted(2, { [gpu]: '5' }), ...[0, 1].map(i => memberPod('g', 'd', i, { [gpu]: '3' }))],
      podGangs: [
        podGang(
          'g',
          [
            { name: 'c', min: 2 },
            { name: 'd', min: 2 },
          ],
          { topology: 'fabric', preferred: rackKey },
        ),
      ],
    },
    {},
    { policy: { budget: { gang: 0, cycle: 0 } }, remedyPolicy: {} },
  ),
]

describe(`${situations.length} prepared situations`, () => {
  ok(situations.length >= 24)
  for (const { title, code, objects, remedy, policy, remedyPolicy } of situations)
    test(`${code}: ${title}`, () => {
      const decide = (given: SnapshotObjects, settings: Partial<Policy> = {}) => {
        const all = { ...given, nodes: [...given.nodes, ...decoyNodes], pods: [...given.pods, ...decoyPods] }
        const decided = plan(snapshotFrom(all), { ...defaultPolicy, fixes: false, ...settings }, now)
        return decided.gangs.find(({ name }) => name === 'g')!
      }
      equal(decide(objects, policy).explanation?.code, code)
      equal(
        decide({ ...objects, ...remedy }, remedyPolicy ?? policy).verdict,
        'Scheduled',
        'without the cause',
      )
    })
})

test('PodGangNotFound: pods name a gang that does not exist', () => {
  const { missingGangs } = plan(
    snapshotFrom({ nodes: two, pods: wanted(1), podGangs: [] }),
    defaultPolicy,
    now,
  )
  equal(missingGangs[0]?.explanation.code, 'PodGangNotFound')
})
