// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { GangDecision } from '@grove/scheduler'
import { call } from '../testing/grove-call.ts'
import {
  devices,
  fabric,
  gpuNode,
  gpuPod,
  gpuSet,
  placementFiles,
  rackKey,
  waitingGang,
} from '../testing/placement-files.ts'

const files = placementFiles()
after(() => files.remove())

const names = ['a1-1', 'a1-2', 'a2-1', 'b1-1']
const cluster = [fabric, ...names.map(name => gpuNode(name))]

interface Plan {
  readonly apiVersion: string
  readonly kind: string
  readonly fits: boolean
  readonly steps: number
  readonly gangs: readonly GangDecision[]
}

let written = 0
async function planned(
  sets: readonly object[],
  objects: readonly object[] = cluster,
  args: readonly string[] = [],
): Promise<{ status: number | null; plan: Plan; stderr: string }> {
  const nodes = files.write(`nodes-${written++}.json`, objects)
  const given = sets.length > 0 ? ['-f', files.write(`sets-${written++}.json`, sets)] : []
  const { status, stdout, stderr } = await call(['plan', ...given, '--nodes', nodes, ...args, '-o', 'json'])
  assert.notEqual(stdout, '', stderr)
  return { status, plan: JSON.parse(stdout) as Plan, stderr }
}

const nodesOf = ({ pods }: GangDecision) => pods.map(({ node }) => node)

test('prints the placement of a set as JSON', async () => {
  const { status, plan } = await planned([gpuSet({ required: 'rack', workers: 4 })])
  assert.equal(status, 0)
  assert.ok(Number.isSafeInteger(plan.steps) && plan.steps > 0)
  assert.deepEqual(
    { ...plan, steps: 0 },
    {
      apiVersion: 'cli.grove.io/v1alpha1',
      kind: 'Plan',
      fits: true,
      steps: 0,
      gangs: [
        {
          namespace: 'default',
          name: 'llm-0',
          podCliqueSet: 'llm',
          replica: 0,
          role: 'base',
          priority: 0,
          verdict: 'Scheduled',
          provenance: 'proved',
          placementScore: 1,
          scopes: [
            {
              name: 'llm-0',
              kind: 'gang',
              required: { level: 'rack', key: rackKey, domain: { zone: 'a', rack: 'r1' } },
            },
          ],
          pods: [0, 1, 2, 3].map(index => ({
            name: `llm-0-worker-${index}`,
            podGroup: 'llm-0-worker',
            node: index < 2 ? 'a1-1' : 'a1-2',
            part: 'minimum',
          })),
        },
      ],
    },
  )
})

test('scores a preferred level that the gang had to widen', async () => {
  const { status, plan } = await planned([gpuSet({ preferred: 'rack', workers: 6 })])
  assert.equal(status, 0)
  const [gang] = plan.gangs
  // Levels zone and rack: one widening of two, over two racks: (2 - 1 + 1/2) / 3.
  assert.equal(gang?.placementScore, 0.5)
  const { preferred } = gang?.scopes[0] ?? {}
  assert.deepEqual(preferred, { level: 'rack', key: rackKey, widened: 1, domains: 2, score: 0.5 })
})

test('a gang that does not fit has an explanation, no nodes, and exit code 1', async () => {
  const { status, plan } = await planned([gpuSet({ required: 'rack', workers: 6 })])
  assert.equal(status, 1)
  assert.equal(plan.fits, false)
  const [gang] = plan.gangs
  assert.equal(gang?.verdict, 'Unschedulable')
  assert.equal(gang?.explanation?.code, 'DomainTooSmall')
  assert.equal('placementScore' in gang, false)
  assert.deepEqual(nodesOf(gang), Array(6).fill(null))
})

test('scaled gangs follow their base gang, and are blocked if it does not fit', async () => {
  const fits = await planned([gpuSet({ scaled: 2 })])
  assert.deepEqual(
    fits.plan.gangs.map(({ name, role, baseGang, verdict }) => [name, role, baseGang, verdict]),
    [
      ['llm-0', 'base', undefined, 'Scheduled'],
      ['llm-0-sg-0', 'scaled', 'llm-0', 'Scheduled'],
    ],
  )
  const blocked = await planned([gpuSet({ scaled: 2, gpus: 9 })])
  assert.equal(blocked.status, 1)
  assert.deepEqual(
    blocked.plan.gangs.map(({ verdict, explanation }) => [verdict, explanation?.code]),
    [
      ['Unschedulable', 'PodTooLarge'],
      ['Blocked', 'BaseGangNotScheduled'],
    ],
  )
  assert.deepEqual(blocked.plan.gangs[1]?.explanation?.waitsFor, {
    kind: 'PodGang',
    namespace: 'default',
    name: 'llm-0',
  })
})

test('a scaled gang of higher priority is planned before the base gang of another set', async () => {
  const high = {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'high' },
    value: 1000,
  }
  const sets = [
    gpuSet({ name: 'low', workers: 2 }),
    gpuSet({ name: 'first', workers: 2, scaled: 4, priorityClassName: 'high' }),
    gpuSet({ name: 'last', workers: 2, scaled: 2 }),
  ]
  const { plan } = await planned([high, ...sets])
  assert.deepEqual(
    plan.gangs.map(({ name, priority, verdict, explanation }) => [
      name,
      priority,
      verdict,
      explanation?.code,
    ]),
    [
      ['first-0', 1000, 'Scheduled', undefined],
      ['first-0-sg-0', 1000, 'Scheduled', undefined],
      ['first-0-sg-1', 1000, 'Scheduled', undefined],
      ['first-0-sg-2', 1000, 'Scheduled', undefined],
      ['last-0', 0, 'Unschedulable', 'HeldForEarlierGang'],
      ['low-0', 0, 'Unschedulable', 'HeldForEarlierGang'],
      ['last-0-sg-0', 0, 'Blocked', 'BaseGangNotScheduled'],
    ],
  )
})

test('surplus is placed after all minima', async () => {
  const { status, plan } = await planned([
    gpuSet({ name: 'one', workers: 3, minAvailable: 1, gpus: 8 }),
    gpuSet({ name: 'two', workers: 3, minAvailable: 2, gpus: 8 }),
  ])
  assert.equal(status, 0)
  const parts = plan.gangs.map(({ pods }) => pods.map(({ part, node }) => `${part} ${node !== null}`))
  assert.deepEqual(parts, [
    ['minimum true', 'surplus true', 'surplus false'],
    ['minimum true', 'minimum true', 'surplus false'],
  ])
})

test('running pods keep their nodes; waiting gangs count only with --pending', async () => {
  const objects = [
    ...cluster,
    gpuPod('other', 8, 'a1-1'),
    gpuPod('finished', 8, 'a1-2'),
    ...waitingGang('old', 2, 8),
  ]
  const finished = objects.find(
    object => (object as { metadata: { name: string } }).metadata.name === 'finished',
  )
  Object.assign(finished ?? {}, { status: { phase: 'Succeeded' } })
  const alone = await planned([gpuSet({ workers: 3, gpus: 8 })], objects)
  assert.equal(alone.status, 0)
  assert.deepEqual(alone.plan.gangs.map(nodesOf), [['a1-2', 'a2-1', 'b1-1']])

  const both = await planned([gpuSet({ workers: 3, gpus: 8 })], objects, ['--pending'])
  assert.equal(both.status, 1)
  assert.deepEqual(
    both.plan.gangs.map(({ name, verdict }) => [name, verdict]),
    [
      ['old', 'Scheduled'],
      ['llm-0', 'Unschedulable'],
    ],
  )
  const pending = await planned([], objects, ['--pending'])
  assert.equal(pending.status, 0)
  assert.deepEqual(
    pending.plan.gangs.map(({ name }) => name),
    ['old'],
  )
})

test('--pending ignores gangs of other schedulers and satisfied gangs', async () => {
  const bound = waitingGang('done', 1, 1, { node: 'a1-1' })
  const { status, plan } = await planned(
    [],
    [...cluster, ...bound, ...waitingGang('foreign', 1, 1, { schedulerName: 'kai-scheduler' })],
    ['--pending'],
  )
  assert.equal(status, 0)
  assert.deepEqual(plan.gangs, [])
})

test('running pods of the set keep their nodes', async () => {
  const running = gpuPod('llm-0-worker-x7x7x', 4, 'b1-1', {
    labels: {
      'grove.io/podgang': 'llm-0',
      'grove.io/podclique': 'llm-0-worker',
      'grove.io/podclique-pod-index': '0',
    },
    spec: { hostname: 'llm-0-worker-0', schedulerName: 'grove-scheduler' },
  })
  const { plan } = await planned([gpuSet({ required: 'rack' })], [...cluster, running])
  assert.deepEqual(
    plan.gangs[0]?.pods.map(({ name, node }) => [name, node]),
    [['llm-0-worker-1', 'b1-1']],
  )
})

test('unknown kinds and lists are read as kubectl writes them', async () => {
  const list = { apiVersion: 'v1', kind: 'List', items: cluster }
  const other = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }
  // A kind of another group with the same name is not a node.
  const foreign = { apiVersion: 'example.com/v1', kind: 'Node', metadata: {} }
  const { status } = await planned([gpuSet()], [other, foreign, list])
  assert.equal(status, 0)
})

test('a set for another scheduler is planned with a note', async () => {
  const { status, stderr } = await planned([gpuSet({ schedulerName: 'default-scheduler' })])
  assert.equal(status, 0)
  assert.match(
    stderr,
    /PodCliqueSet default\/llm uses default-scheduler; the output shows where grove-scheduler/,
  )
})

test('equal input gives equal output, in any order', async () => {
  const strip = ({ plan }: { plan: Plan }) => JSON.stringify(plan).replaceAll(/"since":"[^"]*"/g, '')
  const sets = [gpuSet({ name: 'x', workers: 5 }), gpuSet({ name: 'y', workers: 5 })]
  const first = await planned(sets)
  const second = await planned(sets.toReversed(), cluster.toReversed())
  assert.equal(first.status, 1)
  assert.equal(strip(first), strip(second))
})

test('the text shows domains, nodes, scores, reasons, fixes and the topology in 80 columns', async () => {
  const nodes = files.write('text-nodes.json', [
    ...cluster.slice(0, -1),
    gpuNode('b1-1', { unschedulable: true }),
  ])
  const sets = files.write('text-sets.json', [
    gpuSet({ name: 'one', required: 'rack', workers: 4 }),
    gpuSet({ name: 'two', required: 'rack', workers: 3 }),
  ])
  const { status, stdout } = await call(['plan', '-f', sets, '--snapshot', nodes])
  assert.equal(status, 1)
  assert.equal(
    stdout,
    `1 of 2 gangs fits.

A one-0  Scheduled  rack a/r1  score 1.00
    one-0-worker  4 pods on 2 nodes: a1-1 ×2, a1-2 ×2
- two-0  Unschedulable  HeldForEarlierGang
    PodGang one-0 comes first (age) and takes 16 nvidia.com/gpu, 4 pods
    pods that fit alone: two-0-worker 2 of 3
    fix: lower minAvailable of PodClique two-0-worker to 2

zone a
  rack r1
    a1-1 [AA]  a1-2 [AA]
  rack r2  1 node, no pod of this plan
zone b  1 node, no pod of this plan
`,
  )
  for (const line of stdout.split('\n')) assert.ok([...line].length <= 80, line)
})

test('rejects invalid input with exit code 2 and no output', async () => {
  const nodes = files.write('nodes.json', cluster)
  const set = files.write('set.json', [gpuSet()])
  const rejected = files.write('rejected.json', [gpuSet({ required: 'planet' })])
  const twice = files.write('twice.json', [gpuSet(), gpuSet()])
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } }
  // No server listens on this port.
  const unreachable = files.write(
    'kubeconfig',
    `current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
`,
  )
  const slice = { apiVersion: 'resource.k8s.io/v1', kind: 'ResourceSlice', metadata: { name: 's' } }
  const badClaim = {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaimTemplate',
    metadata: { name: 't' },
    spec: { spec: { devices: { requests: 'gpu' } } },
  }
  const table: [string[], RegExp][] = [
    [[], /nothing to plan; add -f FILE for sets, or --pending/],
    [['-f', 'missing.yaml', '--nodes', nodes], /cannot read missing.yaml: no such file/],
    [['-f', set, '--nodes', 'missing.yaml'], /cannot read missing.yaml: no such file/],
    [['-f', set, '--nodes', set], /no Node in .*set.json/],
    [['-f', nodes, '--nodes', nodes], /no PodCliqueSet in .*only ClusterTopologyBinding, Node/],
    [['-f', rejected, '--nodes', nodes], /rejected.json:1: .*planet/],
    [['-f', twice, '--nodes', nodes], /twice.json:\d+: PodCliqueSet default\/llm is there twice/],
    [['-f', set, '--nodes', nodes, '--local'], /--nodes reads the cluster from files and cannot be combined/],
    [['-f', set, '--nodes', nodes, '--config', 'missing.yaml'], /cannot read missing.yaml/],
    [
      ['-f', set, '--nodes', files.write('bad-pod.json', [...cluster, pod])],
      /bad-pod.json:\d+: the Pod has no valid spec/,
    ],
    [
      ['-f', set, '--nodes', files.write('bad-node.json', [{ apiVersion: 'v1', kind: 'Node' }])],
      /bad-node.json:1: the Node has no valid metadata.name/,
    ],
    [
      [
        '-f',
        set,
        '--nodes',
        files.write('bad-slice.json', [...cluster, { ...slice, spec: { driver: 'd' } }]),
      ],
      /bad-slice.json:\d+: the ResourceSlice has no valid spec.pool.name/,
    ],
    [
      ['-f', set, '--nodes', files.write('bad-claim.json', [...cluster, badClaim])],
      /bad-claim.json:\d+: the ResourceClaimTemplate has no valid spec.spec.devices.requests/,
    ],
    [['-f', set, '--kubeconfig', unreachable], /cannot reach the cluster at https:\/\/127.0.0.1:1/],
    [['-f', set, '--nodes', nodes, '-o', 'yaml'], /Allowed choices are text, json/],
  ]
  for (const [args, message] of table) {
    const { status, stdout, stderr } = await call(['plan', ...args])
    assert.equal(status, 2, `${args.join(' ')}: ${stderr}`)
    assert.match(stderr, message)
    assert.equal(stdout, '')
  }
})

test('plans claims from templates that are not generated yet', async () => {
  const set = gpuSet({ workers: 2, gpus: 0, claimTemplate: 'devices' })
  const fits = await planned([set], [...cluster, ...devices(2, { 'a1-2': 2, 'a2-1': 1, 'b1-1': 3 })])
  assert.deepEqual(fits.plan.gangs.map(nodesOf), [['a1-2', 'b1-1']])
  const short = await planned([set], [...cluster, ...devices(2, { 'a1-2': 3 })])
  assert.equal(short.status, 1)
  assert.equal(
    short.plan.gangs[0]?.explanation?.message,
    'ResourceClaims of PodClique llm-0-worker can be used on 1 nodes only; 2 devices of class gpu missing',
  )
  const missing = await planned([set])
  assert.equal(
    missing.plan.gangs[0]?.explanation?.message,
    'ResourceClaimTemplate devices of PodClique llm-0-worker does not exist',
  )
})
