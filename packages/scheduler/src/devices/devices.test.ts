// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import type { DeviceRequest, Pod, ResourceClaim } from '@grove/api'
import { defaultPolicy, plan, snapshotFrom } from '../index.ts'
import {
  allocated,
  attribute,
  claimTemplate,
  deviceClass,
  deviceRequest,
  driver,
  resourceClaim,
  resourceSlice,
  sliceDevice,
  withClaims,
} from '../testing/device-objects.ts'
import { memberPod, node, pod, podGang } from '../testing/objects.ts'
import type { GangDecision, PodBinding, SnapshotObjects } from '../types.ts'

const gpus = deviceClass('gpu')
const large = `${attribute('model')} == "large"`

/** Pods `c-0`, `c-1`, … of the gang `g`, each with its own claim of the same name. */
function gangOf(count: number, request: DeviceRequest, options: { cpu?: string; gang?: string } = {}) {
  const { cpu = '1', gang = 'g' } = options
  const clique = `${gang}-c`
  const names = Array.from({ length: count }, (_, i) => `${clique}-${i}`)
  return {
    podGangs: [podGang(gang, [{ name: clique, min: count }])],
    pods: names.map((name, i) => withClaims(memberPod(gang, clique, i, { cpu }), name)),
    resourceClaims: names.map(name => resourceClaim(name, [request])),
  }
}

function cluster(devices: Readonly<Record<string, Parameters<typeof resourceSlice>[1]>>) {
  return {
    nodes: Object.keys(devices).map(name => node(name, { cpu: '8' })),
    resourceSlices: Object.entries(devices).map(([name, own]) => resourceSlice(name, own)),
    deviceClasses: [gpus],
  }
}

function decide(objects: SnapshotObjects): {
  gang: GangDecision
  bindings: readonly PodBinding[]
} {
  const { gangs, bindings } = plan(snapshotFrom(objects), defaultPolicy, 0)
  return { gang: gangs[0]!, bindings }
}

const nodesOf = (bindings: readonly PodBinding[]) => bindings.map(({ node }) => node)
const devicesOf = (bindings: readonly PodBinding[]) =>
  bindings.map(({ claims = [] }) => claims.flatMap(({ devices = [] }) => devices.map(({ device }) => device)))

test('pods are placed where their devices are, and each claim gets devices of its node', () => {
  const { gang, bindings } = decide({ ...cluster({ a: 1, b: 3 }), ...gangOf(2, deviceRequest('gpu', 2)) })
  equal(gang.verdict, 'Unschedulable')
  const fits = decide({ ...cluster({ a: 1, b: 3, c: 2 }), ...gangOf(2, deviceRequest('gpu', 2)) })
  deepEqual(nodesOf(fits.bindings), ['b', 'c'])
  deepEqual(fits.bindings[0]?.claims, [
    {
      name: 'g-c-0',
      uid: 'uid-g-c-0',
      devices: [
        { request: 'gpu', driver, pool: 'b', device: 'gpu-0' },
        { request: 'gpu', driver, pool: 'b', device: 'gpu-1' },
      ],
    },
  ])
  deepEqual(bindings, [])
})

test('selectors of classes and requests choose devices', () => {
  const devices = [sliceDevice('one', { model: 'small' }), sliceDevice('two', { model: 'large' })]
  const request = deviceRequest('gpu', 1, [large])
  const { bindings } = decide({ ...cluster({ a: 1, b: devices }), ...gangOf(1, request) })
  // Device gpu-0 of node a has no attribute `model`, so the selector cannot be evaluated.
  deepEqual(bindings, [])
  const guarded = deviceRequest('gpu', 1, [`${attribute('?model')}.orValue("") == "large"`])
  deepEqual(devicesOf(decide({ ...cluster({ a: 1, b: devices }), ...gangOf(1, guarded) }).bindings), [
    ['two'],
  ])
  const classes = [deviceClass('gpu', `"model" in device.attributes["${driver}"]`, large)]
  const byClass = decide({
    ...cluster({ a: 1, b: devices }),
    ...gangOf(1, deviceRequest('gpu')),
    deviceClasses: classes,
  })
  deepEqual(devicesOf(byClass.bindings), [['two']])
})

test('requests with overlapping selectors share devices exactly', () => {
  const devices = [sliceDevice('l', { model: 'large' }), sliceDevice('s', { model: 'small' })]
  const any = deviceRequest('gpu', 1, [], 'any')
  const one = deviceRequest('gpu', 1, [large], 'large')
  const objects = (requests: DeviceRequest[]) => ({
    ...cluster({ a: devices }),
    podGangs: [podGang('g', [{ name: 'c', min: 1 }])],
    pods: [withClaims(memberPod('g', 'c', 0, {}), 'x')],
    resourceClaims: [resourceClaim('x', requests)],
  })
  deepEqual(decide(objects([any, one])).bindings[0]?.claims?.[0]?.devices, [
    { request: 'any', driver, pool: 'a', device: 's' },
    { request: 'large', driver, pool: 'a', device: 'l' },
  ])
  equal(decide(objects([one, { ...one, name: 'more' }])).gang.explanation?.code, 'DevicesUnavailable')
  equal(decide(objects([any, { ...any, name: 'b' }, { ...any, name: 'c' }])).gang.verdict, 'Unschedulable')
})

test('devices of allocated claims are in use, and those of a terminating pod are free soon', () => {
  const holder = (options: { terminating?: boolean }) => ({
    pods: [withClaims(pod('holder', {}, { node: 'a', ...options }), 'held')],
    resourceClaims: [resourceClaim('held', [], allocated('a', ['gpu-0'], ['holder']))],
  })
  const wanted = gangOf(1, deviceRequest('gpu'))
  const merged = (other: { pods: Pod[]; resourceClaims: ResourceClaim[] }) => ({
    ...cluster({ a: 1 }),
    ...wanted,
    pods: [...wanted.pods, ...other.pods],
    resourceClaims: [...wanted.resourceClaims, ...other.resourceClaims],
  })
  const { explanation } = decide(merged(holder({}))).gang
  equal(explanation?.code, 'DevicesUnavailable')
  equal(
    explanation.message,
    'ResourceClaims of PodClique g-c can be used on 0 nodes only; 1 devices of class gpu missing',
  )
  equal(explanation.evidence.nodes.excluded.claim, 1)
  deepEqual(
    explanation.fixes.map(({ op }) => op),
    ['AddNodes', 'DeletePods'],
  )
  equal(decide(merged(holder({ terminating: true }))).gang.explanation?.code, 'Terminating')
  const unused = { pods: [], resourceClaims: [resourceClaim('held', [], allocated('a', ['gpu-0']))] }
  equal(decide(merged(unused)).gang.explanation?.code, 'DevicesUnavailable')
})

test('an allocated claim pins its pods to its nodes', () => {
  const wanted = gangOf(1, deviceRequest('gpu'))
  const pinned = [resourceClaim('g-c-0', [deviceRequest('gpu')], allocated('b', ['gpu-0']))]
  const { bindings } = decide({ ...cluster({ a: 2, b: 1 }), ...wanted, resourceClaims: pinned })
  deepEqual(nodesOf(bindings), ['b'])
  deepEqual(bindings[0]?.claims, [{ name: 'g-c-0', uid: 'uid-g-c-0' }])
  const full = decide({
    ...cluster({ a: 2, b: 1 }),
    ...wanted,
    resourceClaims: pinned,
    pods: [...wanted.pods, pod('other', { cpu: '8' }, { node: 'b' })],
  })
  equal(full.gang.explanation?.code, 'DevicesUnavailable')
  equal(full.gang.explanation.evidence.nodes.excluded.claim, 1)
})

test('pods that share a claim run on one node, which provides its devices once', () => {
  const shared = (count: number, cpu: string, devices: number) => ({
    podGangs: [podGang('g', [{ name: 'c', min: count }])],
    pods: Array.from({ length: count }, (_, i) => withClaims(memberPod('g', 'c', i, { cpu }), 'x')),
    resourceClaims: [resourceClaim('x', [deviceRequest('gpu', devices)])],
  })
  const { bindings } = decide({ ...cluster({ a: 1, b: 2 }), ...shared(3, '2', 2) })
  deepEqual(nodesOf(bindings), ['b', 'b', 'b'])
  deepEqual(devicesOf(bindings), Array(3).fill(['gpu-0', 'gpu-1']))
  equal(decide({ ...cluster({ a: 2, b: 2 }), ...shared(3, '3', 2) }).gang.verdict, 'Unschedulable')
  equal(decide({ ...cluster({ a: 1, b: 1 }), ...shared(2, '1', 2) }).gang.verdict, 'Unschedulable')
})

test('a pod waits for claims, classes and templates that do not exist', () => {
  const wanted = gangOf(1, deviceRequest('gpu'))
  const message = (change: Partial<SnapshotObjects>) => {
    const { gang } = decide({ ...cluster({ a: 1 }), ...wanted, ...change })
    return `${gang.verdict} ${gang.explanation?.code} ${gang.explanation?.message}`
  }
  equal(
    message({ resourceClaims: [] }),
    'Unschedulable ClaimNotFound ResourceClaim g-c-0 of PodClique g-c does not exist',
  )
  equal(
    message({ deviceClasses: [] }),
    'Unschedulable ClaimNotFound DeviceClass gpu of PodClique g-c does not exist',
  )
  const fromTemplate: Pod = {
    ...wanted.pods[0]!,
    spec: { ...wanted.pods[0]!.spec, resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 't' }] },
  }
  equal(
    message({ pods: [fromTemplate] }),
    'Unschedulable ClaimNotFound ResourceClaimTemplate t of PodClique g-c does not exist',
  )
  const resourceClaimTemplates = [claimTemplate('t', [deviceRequest('gpu')])]
  equal(
    message({ pods: [fromTemplate], resourceClaimTemplates }),
    'Blocked ClaimNotFound ResourceClaim from template t of PodClique g-c does not exist',
  )
  const generated = {
    ...fromTemplate,
    status: { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'g-c-0' }] },
  }
  match(message({ pods: [generated], resourceClaimTemplates }), /^Scheduled/)
})

const unsupported: Readonly<Record<string, { objects?: Partial<SnapshotObjects>; request?: DeviceRequest }>> =
  {
    'spec.devices.requests[].firstAvailable of ResourceClaims': {
      request: { name: 'gpu', firstAvailable: [{ name: 'x', deviceClassName: 'gpu' }] },
    },
    'spec.devices.requests[].exactly.adminAccess of ResourceClaims': {
      request: { name: 'gpu', exactly: { deviceClassName: 'gpu', adminAccess: true } },
    },
    'spec.devices.requests[].exactly.capacity of ResourceClaims': {
      request: {
        name: 'gpu',
        exactly: { deviceClassName: 'gpu', capacity: { requests: { memory: '1Gi' } } },
      },
    },
    'spec.devices.requests[].exactly.tolerations of ResourceClaims': {
      request: { name: 'gpu', exactly: { deviceClassName: 'gpu', tolerations: [{ operator: 'Exists' }] } },
    },
    'spec.devices.requests[].exactly.allocationMode All of ResourceClaims': {
      request: { name: 'gpu', exactly: { deviceClassName: 'gpu', allocationMode: 'All' } },
    },
    'spec.devices.constraints of ResourceClaims': {
      objects: {
        resourceClaims: [
          {
            ...resourceClaim('g-c-0', []),
            spec: {
              devices: {
                requests: [deviceRequest('gpu')],
                constraints: [{ matchAttribute: 'a.example.com/b' }],
              },
            },
          },
        ],
      },
    },
    'spec.allNodes of ResourceSlices': {
      objects: { resourceSlices: [resourceSlice('a', 1, { nodeName: undefined, allNodes: true })] },
    },
    'spec.sharedCounters of ResourceSlices': {
      objects: { resourceSlices: [resourceSlice('a', 1, { sharedCounters: [{ name: 'c' }] })] },
    },
    'spec.devices[].allowMultipleAllocations of ResourceSlices': {
      objects: { resourceSlices: [resourceSlice('a', [{ name: 'x', allowMultipleAllocations: true }])] },
    },
    'pool a, which lists a device twice,': {
      objects: { resourceSlices: [resourceSlice('a', [{ name: 'x' }, { name: 'x' }])] },
    },
  }

for (const [field, { objects, request = deviceRequest('gpu') }] of Object.entries(unsupported))
  test(`a gang that needs ${field} is not placed`, () => {
    const { gang } = decide({ ...cluster({ a: 4 }), ...gangOf(1, request), ...objects })
    equal(gang.explanation?.message, `not supported by grove-scheduler: ${field} of PodClique g-c`)
  })

test('tainted devices, older generations of a pool and devices of other drivers are not used', () => {
  const slices = [
    resourceSlice('a', [{ name: 'tainted', taints: [{ effect: 'NoSchedule' }] }]),
    resourceSlice('b', 4, { pool: { name: 'b', generation: 1 } }),
    { ...resourceSlice('b', 1, { pool: { name: 'b', generation: 2 } }), metadata: { name: 'newer' } },
    resourceSlice('c', 4, { driver: 'other.example.com' }),
  ]
  const nodes = ['a', 'b', 'c'].map(name => node(name, { cpu: '8' }))
  const wanted = (count: number) => ({ ...gangOf(count, deviceRequest('gpu')), nodes, deviceClasses: [gpus] })
  deepEqual(nodesOf(decide({ ...wanted(1), resourceSlices: slices }).bindings), ['b'])
  equal(decide({ ...wanted(2), resourceSlices: slices }).gang.verdict, 'Unschedulable')
})

test('many selectors that overlap in all ways are not supported', () => {
  const bits = 8
  const devices = Array.from({ length: 1 << bits }, (_, i) => sliceDevice(`d${i}`, { bits: i }))
  const requests = Array.from({ length: bits }, (_, bit) =>
    deviceRequest('gpu', 1, [`${attribute('bits')} / ${1 << bit} % 2 == 1`], `r${bit}`),
  )
  const objects = {
    ...cluster({ a: devices }),
    podGangs: [podGang('g', [{ name: 'c', min: 1 }])],
    pods: [withClaims(memberPod('g', 'c', 0, {}), 'x')],
    resourceClaims: [resourceClaim('x', requests)],
  }
  equal(
    decide(objects).gang.explanation?.message,
    'not supported by grove-scheduler: device selectors that overlap in too many ways of PodClique c',
  )
})
