// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { call } from '../testing/grove-call.ts'
import {
  devices,
  fabric,
  gpuNode,
  gpuPod,
  gpuSet,
  placementFiles,
  rackKey,
} from '../testing/placement-files.ts'

const files = placementFiles()
after(() => files.remove())

const nodes = files.write('nodes.json', [fabric, ...['a1-1', 'a1-2', 'a2-1'].map(name => gpuNode(name))])
const set = files.write('set.json', [gpuSet({ required: 'rack', workers: 3 })])

test('prints copies, slots and fragmentation as JSON', async () => {
  const { status, stdout, stderr } = await call(['capacity', '-f', set, '--nodes', nodes, '-o', 'json'])
  assert.equal(status, 0, stderr)
  const found = JSON.parse(stdout)
  assert.deepEqual(Object.keys(found), [
    'apiVersion',
    'kind',
    'copies',
    'provenance',
    'limitedBy',
    'slots',
    'fragmentation',
  ])
  assert.equal(found.apiVersion, 'cli.grove.io/v1alpha1')
  assert.equal(found.kind, 'Capacity')
  assert.equal(found.copies, 1)
  assert.equal(found.provenance, 'proved')
  assert.equal(found.limitedBy.code, 'NoDomainFits')
  assert.deepEqual(
    found.slots.map(({ level }: { level: string }) => level),
    ['zone', 'rack', 'host'],
  )
  assert.deepEqual(found.slots[1], {
    level: 'rack',
    key: rackKey,
    domains: [
      { domain: { zone: 'a', rack: 'r1' }, copies: 1, free: { 'nvidia.com/gpu': 16 } },
      { domain: { zone: 'a', rack: 'r2' }, copies: 0, free: { 'nvidia.com/gpu': 8 } },
    ],
  })
  assert.deepEqual(found.fragmentation, {
    resource: 'nvidia.com/gpu',
    free: 24,
    unusable: 0,
    ratio: 0,
    byReason: {},
    shapes: [{ podClique: 'llm-0-worker', weight: 1, unusable: 0 }],
  })
})

test('a copy does not share pods with a set that already runs', async () => {
  const running = gpuPod('llm-0-worker-0', 8, 'a1-1', {
    labels: { 'grove.io/podgang': 'llm-0', 'grove.io/podclique': 'llm-0-worker' },
    spec: { schedulerName: 'grove-scheduler', hostname: 'llm-0-worker-0' },
  })
  const used = files.write('used.json', [fabric, ...['a1-1', 'a1-2'].map(name => gpuNode(name)), running])
  const two = files.write('two.json', [gpuSet({ workers: 2 })])
  const { stdout } = await call(['capacity', '-f', two, '--nodes', used, '-o', 'json'])
  assert.equal(JSON.parse(stdout).copies, 1)
})

test('the text states how many fit, why no more fit, and where', async () => {
  const { stdout } = await call(['capacity', '-f', set, '--nodes', nodes])
  assert.equal(
    stdout,
    `1 more copy fits.

The next copy: NoDomainFits
    PodGang llm-0 needs 3 pods in one rack; best is a/r2 with 2 pods (4
    nvidia.com/gpu missing), 2 tried
    fix: require level zone instead of rack for llm-0

Copies of gang llm-0 in each zone alone:
  a  1

Copies of gang llm-0 in each rack alone:
  a/r1  1
  none in 1 of 2

Copies of gang llm-0 in each host alone:
  none in 3 of 3

Fragmentation: pods of this workload cannot use 0 of 24 free nvidia.com/gpu
  (0%).
`,
  )
  const limited = await call(['capacity', '-f', set, '--nodes', nodes, '--max', '1'])
  assert.match(limited.stdout, /^At least 1 more copy fits\.\n/)
})

test('rejects invalid input with exit code 2', async () => {
  const empty = files.write('empty.json', [gpuSet({ replicas: 0 })])
  const table: [string[], RegExp][] = [
    [['--nodes', nodes], /nothing to count; add -f FILE/],
    [['-f', set, '--nodes', nodes, '--max', 'many'], /--max must be a whole number, not "many"/],
    [['-f', set, '--nodes', nodes, '--max', '0'], /--max must be at least 1/],
    [['-f', 'missing.yaml', '--nodes', nodes], /cannot read missing.yaml/],
    [['-f', empty, '--nodes', nodes], /the sets have no gangs; set replicas to 1 or more/],
  ]
  for (const [args, message] of table) {
    const { status, stdout, stderr } = await call(['capacity', ...args])
    assert.equal(status, 2, args.join(' '))
    assert.match(stderr, message)
    assert.equal(stdout, '')
  }
})

test('counts devices of claims, next to those that running pods hold', async () => {
  const running = {
    ...(gpuPod('running', 1, 'a1-1') as { spec: object }),
    metadata: { name: 'running', namespace: 'default', uid: 'uid-running' },
  }
  const claim = {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name: 'held', namespace: 'default', uid: 'uid-held' },
    spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu', count: 1 } }] } },
    status: {
      allocation: {
        devices: {
          results: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'a1-1', device: 'gpu-0' }],
        },
      },
      reservedFor: [{ resource: 'pods', name: 'running', uid: 'uid-running' }],
    },
  }
  const cluster = files.write('devices.json', [
    fabric,
    ...['a1-1', 'a1-2'].map(name => gpuNode(name)),
    ...devices(2, { 'a1-1': 4, 'a1-2': 4 }),
    claim,
    { ...running, spec: { ...running.spec, resourceClaims: [{ name: 'd', resourceClaimName: 'held' }] } },
  ])
  const claiming = files.write('claiming.json', [gpuSet({ workers: 1, gpus: 0, claimTemplate: 'devices' })])
  const { stdout, stderr } = await call(['capacity', '-f', claiming, '--nodes', cluster, '-o', 'json'])
  assert.notEqual(stdout, '', stderr)
  const found = JSON.parse(stdout)
  assert.deepEqual([found.copies, found.provenance], [3, 'proved'])
  assert.equal(found.limitedBy.code, 'DevicesUnavailable')
  assert.equal(found.fragmentation.resource, 'devices of class gpu')
  // The running pod, half of the workload, can use every free device.
  assert.equal(found.fragmentation.unusable, 0.5)
})
