// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod, PodGang } from '@grove/api'
import fc from 'fast-check'
import { capacity, defaultPolicy, plan, snapshotFrom } from '../index.ts'
import {
  deviceClass,
  deviceRequest,
  resourceClaim,
  resourceSlice,
  withClaims,
} from '../testing/device-objects.ts'
import { propertyOptions } from '../testing/instances.ts'
import { gpu, memberPod, node, pod, podGang, topologyBinding } from '../testing/objects.ts'
import type { SnapshotObjects } from '../types.ts'

const rack = 'example.com/rack'
const topologyBindings = [topologyBinding('fabric', { rack, host: 'kubernetes.io/hostname' })]

interface Member {
  readonly gpus: number
  readonly cpus: number
  readonly pods: number
}

/** A gang with one group for each member, in one rack. */
function gang(name: string, members: readonly Member[], required: string | undefined): [PodGang, Pod[]] {
  const groups = members.map(({ pods }, at) => ({ name: `${name}-c${at}`, min: pods }))
  return [
    podGang(name, groups, { topology: 'fabric', ...(required && { required }) }),
    members.flatMap(({ gpus, cpus, pods }, at) =>
      Array.from({ length: pods }, (_, index) =>
        memberPod(name, `${name}-c${at}`, index, { [gpu]: String(gpus), cpu: String(cpus) }),
      ),
    ),
  ]
}

function capacityOf(
  nodes: readonly Node[],
  running: readonly Pod[],
  members: readonly Member[],
  options: { readonly required?: string; readonly most?: number } = {},
) {
  const [podGangs, pods] = gang('g', members, options.required)
  const objects = { nodes, pods: running, podGangs: [], topologyBindings }
  return capacity({
    snapshot: snapshotFrom(objects),
    template: snapshotFrom({ ...objects, pods, podGangs: [podGangs] }).gangs,
    most: options.most ?? 100,
    policy: defaultPolicy,
    now: 0,
  })
}

const gpuNode = (name: string, gpus = 8, cpus = 16) =>
  node(name, { [gpu]: String(gpus), cpu: String(cpus) }, { labels: { [rack]: name.split('-')[0]! } })

test('counts whole copies, and explains why the next one does not fit', () => {
  const nodes = ['a-1', 'a-2', 'b-1'].map(name => gpuNode(name))
  const found = capacityOf(
    nodes,
    [pod('other', { [gpu]: '4' }, { node: 'a-1' })],
    [{ gpus: 4, cpus: 1, pods: 2 }],
    {
      required: rack,
    },
  )
  equal(found.copies, 2)
  equal(found.provenance, 'proved')
  equal(found.limitedBy?.code, 'InsufficientCapacity')
  deepEqual(found.slots, [
    {
      level: 'rack',
      key: rack,
      domains: [
        { domain: { rack: 'a' }, copies: 1, free: { cpu: 32_000, [gpu]: 12 } },
        { domain: { rack: 'b' }, copies: 1, free: { cpu: 16_000, [gpu]: 8 } },
      ],
    },
    {
      level: 'host',
      key: 'kubernetes.io/hostname',
      domains: [
        { domain: { rack: 'a', host: 'a-1' }, copies: 0, free: { cpu: 16_000, [gpu]: 4 } },
        { domain: { rack: 'a', host: 'a-2' }, copies: 1, free: { cpu: 16_000, [gpu]: 8 } },
        { domain: { rack: 'b', host: 'b-1' }, copies: 1, free: { cpu: 16_000, [gpu]: 8 } },
      ],
    },
  ])
})

test('proposes no fix that deletes a pod that does not exist', () => {
  const found = capacityOf([gpuNode('a-1')], [], [{ gpus: 8, cpus: 1, pods: 1 }])
  equal(found.copies, 1)
  ok(found.limitedBy!.fixes.length > 0)
  ok(found.limitedBy!.fixes.every(({ op }) => op !== 'DeletePods'))
})

test('a count for a single domain still obeys anti-affinity of pods in other domains', () => {
  const zone = 'example.com/zone'
  const nodes = ['a-1', 'b-1'].map(name => {
    const made = gpuNode(name)
    return { ...made, metadata: { ...made.metadata, labels: { ...made.metadata.labels, [zone]: 'z' } } }
  })
  const loner = pod(
    'loner',
    { cpu: '1' },
    {
      node: 'a-1',
      spec: {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: zone, labelSelector: {} }],
          },
        },
      },
    },
  )
  const member = [{ gpus: 1, cpus: 1, pods: 1 }]
  const copies = (running: readonly Pod[]) =>
    capacityOf(nodes, running, member).slots[0]!.domains.map(domain => domain.copies)
  deepEqual(copies([]), [8, 8])
  deepEqual(copies([loner]), [0, 0])
})

test('stops at the limit without reporting a reason', () => {
  const found = capacityOf([gpuNode('a-1')], [], [{ gpus: 1, cpus: 1, pods: 1 }], { most: 3 })
  equal(found.copies, 3)
  equal(found.limitedBy, null)
})

test('a gang that can never run has no copy', () => {
  const found = capacityOf([gpuNode('a-1')], [], [{ gpus: 9, cpus: 1, pods: 1 }])
  equal(found.copies, 0)
  equal(found.provenance, 'proved')
  equal(found.limitedBy?.code, 'PodTooLarge')
})

test('fragmentation is the free amount that pods of the workload cannot use', () => {
  // a-1 has 2 free GPUs, too few for a pod; a-2 has 8 GPUs, but CPU for one pod; a-3 is cordoned.
  const nodes = [gpuNode('a-1'), gpuNode('a-2', 8, 4), { ...gpuNode('a-3'), spec: { unschedulable: true } }]
  const running = [pod('other', { [gpu]: '6' }, { node: 'a-1' })]
  const { fragmentation } = capacityOf(nodes, running, [{ gpus: 4, cpus: 3, pods: 3 }])
  // The shape of `other`, with 6 GPUs, has weight 1/4 and fits on a-2, where 2 GPUs are left.
  deepEqual(fragmentation, {
    resource: gpu,
    free: 18,
    unusable: 0.75 * 14 + 0.25 * 12,
    ratio: (0.75 * 14 + 0.25 * 12) / 18,
    byReason: { cordon: 8, cpu: 3, [gpu]: 0.75 * 2 + 0.25 * 4 },
    shapes: [
      { podClique: 'g-c0', weight: 0.75, unusable: 14 },
      { podClique: 'other', weight: 0.25, unusable: 12 },
    ],
  })
})

test('the count equals the number of explicit copies that one plan accepts', () => {
  const member = fc.record({
    gpus: fc.integer({ min: 1, max: 5 }),
    cpus: fc.integer({ min: 1, max: 4 }),
    pods: fc.integer({ min: 1, max: 2 }),
  })
  const nodes = fc.array(
    fc.record({
      rack: fc.constantFrom('a', 'b'),
      gpus: fc.nat({ max: 8 }),
      cpus: fc.integer({ min: 1, max: 9 }),
    }),
    { minLength: 1, maxLength: 5 },
  )
  fc.assert(
    fc.property(
      nodes,
      fc.array(member, { minLength: 1, maxLength: 2 }),
      fc.constantFrom(rack, undefined),
      (given, members, required) => {
        const made = given.map((one, at) => gpuNode(`${one.rack}-${at}`, one.gpus, one.cpus))
        const { copies, provenance } = capacityOf(made, [], members, { ...(required && { required }) })
        equal(provenance, 'proved')
        const fits = (count: number) => {
          const all = Array.from({ length: count }, (_, at) => gang(`g${at}`, members, required))
          const objects: SnapshotObjects = {
            nodes: made,
            pods: all.flatMap(([, pods]) => pods),
            podGangs: all.map(([podGang]) => podGang),
            topologyBindings,
          }
          const { gangs } = plan(snapshotFrom(objects), { ...defaultPolicy, fixes: false }, 0)
          return gangs.every(({ verdict }) => verdict === 'Scheduled')
        }
        ok(fits(copies))
        ok(!fits(copies + 1))
      },
    ),
    propertyOptions(100),
  )
})

test('every copy has shared claims of its own', () => {
  const objects = {
    nodes: ['a', 'b'].map(name => node(name, { cpu: '8' })),
    resourceSlices: [resourceSlice('a', 5), resourceSlice('b', 3)],
    deviceClasses: [deviceClass('gpu')],
    resourceClaims: [resourceClaim('x', [deviceRequest('gpu', 2)])],
    podGangs: [podGang('g', [{ name: 'c', min: 2 }])],
    pods: [0, 1].map(i => withClaims(memberPod('g', 'c', i, { cpu: '1' }), 'x')),
  }
  const snapshot = snapshotFrom(objects)
  const found = capacity({ snapshot, template: snapshot.gangs, most: 10, policy: defaultPolicy, now: 0 })
  equal(found.copies, 3)
  equal(found.provenance, 'proved')
  equal(found.limitedBy?.code, 'DevicesUnavailable')
})
