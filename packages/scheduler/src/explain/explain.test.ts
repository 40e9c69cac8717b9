// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@grove/api'
import fc from 'fast-check'
import { applyFix, defaultPolicy, plan, snapshotFrom } from '../index.ts'
import { instances, propertyOptions } from '../testing/instances.ts'
import { gpu, memberPod, node, pod, podGang, topologyBinding } from '../testing/objects.ts'
import type { Explanation, SnapshotObjects } from '../types.ts'

const rackKey = 'example.com/rack'
const binding = topologyBinding('fabric', { rack: rackKey, host: 'kubernetes.io/hostname' })
const hosts = (count: number, gpus: string, rack: string, prefix = rack) =>
  Array.from({ length: count }, (_, i) =>
    node(`${prefix}-${i}`, { [gpu]: gpus, cpu: '64' }, { labels: { [rackKey]: rack } }),
  )
const members = (clique: string, count: number, gpus: string, options = {}): Pod[] =>
  Array.from({ length: count }, (_, i) => memberPod('g', clique, i, { [gpu]: gpus }, options))

function explanationOf(objects: SnapshotObjects, gang = 'g'): Explanation {
  const decision = plan(snapshotFrom(objects), defaultPolicy, Date.UTC(2026, 0, 2))
  const found = decision.gangs.find(({ name }) => name === gang)
  ok(found?.explanation, `${gang} waits`)
  return found.explanation
}

const gangOf = (min: number, options = {}) =>
  podGang('g', [{ name: 'c', min }], { topology: 'fabric', ...options })

test('PodTooLarge: a pod needs more GPUs than any node has', () => {
  const explanation = explanationOf({
    nodes: hosts(4, '8', 'r1'),
    pods: members('c', 1, '9'),
    podGangs: [gangOf(1)],
  })
  equal(explanation.code, 'PodTooLarge')
  equal(explanation.message, 'a pod of PodClique c needs 9 nvidia.com/gpu; the largest node r1-0 has 8')
})

test('ClusterTooSmall: all nodes together are too small even if empty', () => {
  const explanation = explanationOf({
    nodes: hosts(2, '8', 'r1'),
    pods: members('c', 3, '8'),
    podGangs: [gangOf(3)],
  })
  equal(explanation.code, 'ClusterTooSmall')
  equal(explanation.message, 'the gang needs 3 pods; all 2 eligible nodes together can hold 2 pods')
  deepEqual(
    explanation.fixes.map(({ op }) => op),
    ['LowerMinAvailable', 'AddNodes'],
  )
})

test('DomainTooSmall: no rack could ever hold the gang', () => {
  const explanation = explanationOf({
    nodes: [...hosts(2, '8', 'r1'), ...hosts(2, '8', 'r2')],
    pods: members('c', 3, '8'),
    podGangs: [gangOf(3, { required: rackKey })],
    topologyBindings: [binding],
  })
  equal(explanation.code, 'DomainTooSmall')
  equal(explanation.message, 'PodGang g needs 3 pods in one rack; the largest rack r1 can ever hold 2 pods')
})

test('NoDomainFits: the cluster has room, but no rack has enough', () => {
  const explanation = explanationOf({
    nodes: [...hosts(2, '8', 'r1'), ...hosts(2, '8', 'r2')],
    pods: [
      ...members('c', 2, '8'),
      pod('x', { [gpu]: '1' }, { node: 'r1-0' }),
      pod('y', { [gpu]: '1' }, { node: 'r2-0' }),
    ],
    podGangs: [gangOf(2, { required: rackKey })],
    topologyBindings: [binding],
  })
  equal(explanation.code, 'NoDomainFits')
  equal(
    explanation.message,
    'PodGang g needs 2 pods in one rack; best is r1 with 1 pod (1 nvidia.com/gpu missing), 2 tried',
  )
  deepEqual(explanation.evidence.domains[0], {
    domain: { rack: 'r1' },
    fits: 1,
    need: 2,
    short: { [gpu]: 1 },
  })
  equal(explanation.fixes[0]?.cost, 1)
})

test('NodesFragmented: free GPUs are spread over too many nodes', () => {
  const nodes = hosts(4, '8', 'r1')
  const explanation = explanationOf({
    nodes,
    pods: [
      ...members('c', 1, '8'),
      ...nodes.map(({ metadata }, i) => pod(`x${i}`, { [gpu]: '4' }, { node: metadata.name })),
    ],
    podGangs: [gangOf(1)],
  })
  equal(explanation.code, 'NodesFragmented')
  equal(explanation.message, '16 nvidia.com/gpu are free but on too many nodes: pods of c need 8 on one node')
})

test('InsufficientCapacity: other pods hold what the gang needs', () => {
  const explanation = explanationOf({
    nodes: hosts(2, '8', 'r1'),
    pods: [...members('c', 2, '8'), pod('x', { [gpu]: '4' }, { node: 'r1-0' })],
    podGangs: [gangOf(2)],
  })
  equal(explanation.code, 'InsufficientCapacity')
  match(explanation.message, /^4 nvidia.com\/gpu missing: 16 needed, 12 free on 2 eligible nodes/)
  deepEqual(
    explanation.evidence.holders.map(({ name }) => name),
    ['x'],
  )
})

test('PinnedDomainFull: running pods confine the gang to a full rack', () => {
  const explanation = explanationOf({
    nodes: [...hosts(1, '8', 'r1'), ...hosts(2, '8', 'r2')],
    pods: [memberPod('g', 'c', 0, { [gpu]: '8' }, { node: 'r1-0' }), memberPod('g', 'c', 1, { [gpu]: '8' })],
    podGangs: [gangOf(2, { required: rackKey })],
    topologyBindings: [binding],
  })
  equal(explanation.code, 'PinnedDomainFull')
  equal(explanation.message, 'PodGang g runs in r1, which lacks 8 nvidia.com/gpu')
})

test('running pods outside every domain do not make a gang impossible', () => {
  const nodes = [node('a', { [gpu]: '8' }, { unschedulable: true })]
  const { code } = explanationOf({
    nodes,
    pods: [memberPod('g', 'c', 0, { [gpu]: '1' }, { node: 'a' }), memberPod('g', 'd', 0, { [gpu]: '1' })],
    podGangs: [
      podGang('g', [
        { name: 'c', min: 1, required: rackKey },
        { name: 'd', min: 1 },
      ]),
    ],
  })
  equal(code, 'NodesCordoned')
})

test('a level without domains does not hold back a gang whose pods of that level all run', () => {
  const { code, scope } = explanationOf({
    nodes: [
      node('a', { [gpu]: '1' }, { labels: { [rackKey]: 'r1' } }),
      node('b', { [gpu]: '2' }, { labels: { [rackKey]: 'r2' } }),
    ],
    pods: [memberPod('g', 'c', 0, { [gpu]: '1' }, { node: 'a' }), memberPod('g', 'd', 0, { [gpu]: '1' })],
    podGangs: [
      podGang(
        'g',
        [
          { name: 'c', min: 1, required: 'unlabelled' },
          { name: 'd', min: 1 },
        ],
        { topology: 'fabric', required: rackKey },
      ),
    ],
    topologyBindings: [binding],
  })
  deepEqual([code, scope], ['PinnedDomainFull', 'g'])
})

test('PinnedDomainFull names the scope whose domain is full, not one with room or without a domain', () => {
  const pods = [
    memberPod('g', 'c', 0, { [gpu]: '1' }, { node: 'a' }),
    memberPod('g', 'c', 1, { [gpu]: '1' }),
    memberPod('g', 'd', 0, { [gpu]: '1' }, { node: 'a' }),
    memberPod('g', 'd', 1, { [gpu]: '6' }),
  ]
  for (const required of [rackKey, 'other.example.com/rack']) {
    const other = { labels: { [rackKey]: 'r2', 'other.example.com/rack': 'r2' } }
    const groups = [
      { name: 'c', min: 2, required },
      { name: 'd', min: 2, required: rackKey },
    ]
    const { code, message } = explanationOf({
      nodes: [node('a', { [gpu]: '3' }, { labels: { [rackKey]: 'r1' } }), node('b', { [gpu]: '9' }, other)],
      pods,
      podGangs: [podGang('g', groups, { topology: 'fabric' })],
      topologyBindings: [binding],
    })
    equal(code, 'PinnedDomainFull', required)
    equal(message, 'PodClique d runs in r1, which lacks 5 nvidia.com/gpu')
  }
})

test('PodAffinityUnsatisfied: the anti-affinity of a running pod keeps pods without rules away', () => {
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: {} }
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } }
  const { code, message } = explanationOf({
    nodes: hosts(1, '8', 'r1'),
    pods: [
      memberPod('g', 'runs', 0, {}, { node: 'r1-0', spec: { schedulerName: 'grove-scheduler', affinity } }),
      ...members('c', 1, '8'),
    ],
    podGangs: [
      podGang('g', [
        { name: 'runs', min: 1 },
        { name: 'c', min: 1 },
      ]),
    ],
  })
  equal(code, 'PodAffinityUnsatisfied')
  equal(message, 'pod anti-affinity of PodClique c leaves 0 of 1 nodes')
})

test('Terminating: the gang fits when terminating pods are gone', () => {
  const explanation = explanationOf({
    nodes: hosts(1, '8', 'r1'),
    pods: [...members('c', 1, '8'), pod('x', { [gpu]: '8' }, { node: 'r1-0', terminating: true })],
    podGangs: [gangOf(1)],
  })
  equal(explanation.code, 'Terminating')
  equal(explanation.message, '1 pods are terminating on r1-0; then the gang fits')
})

test('NodesNotReady, NodesCordoned and TaintsNotTolerated name the nodes that would help', () => {
  const base = { pods: members('c', 1, '8'), podGangs: [gangOf(1)] }
  const tainted = (key: string) =>
    explanationOf({
      ...base,
      nodes: [node('a', { [gpu]: '8' }, { taints: [{ key, effect: 'NoSchedule' }] })],
    })
  equal(tainted('node.kubernetes.io/not-ready').message, 'fits once a are ready')
  equal(tainted('dedicated').message, 'fits if PodClique c tolerated dedicated:NoSchedule of 1 nodes')
  // Kubernetes adds this taint to a cordoned node.
  for (const taints of [[], [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }]]) {
    const nodes = [node('a', { [gpu]: '8' }, { unschedulable: true, taints })]
    const cordoned = explanationOf({ ...base, nodes })
    equal(cordoned.message, 'fits if a were uncordoned')
    equal(cordoned.evidence.nodes.excluded.cordon, 1)
    deepEqual(cordoned.fixes[0], { op: 'Uncordon', nodes: ['a'], cost: 1 })
  }
})

test('HeldForEarlierGang: an older gang takes the only node', () => {
  const explanation = explanationOf({
    nodes: hosts(1, '8', 'r1'),
    pods: [...members('c', 1, '8'), memberPod('first', 'd', 0, { [gpu]: '8' })],
    podGangs: [
      gangOf(1, { createdAt: '2026-01-02T00:00:00Z' }),
      podGang('first', [{ name: 'd', min: 1 }], { createdAt: '2026-01-01T00:00:00Z' }),
    ],
  })
  equal(explanation.code, 'HeldForEarlierGang')
  equal(explanation.message, 'PodGang first comes first (age) and takes 8 nvidia.com/gpu, 1 pods')
  deepEqual(explanation.waitsFor, { kind: 'PodGang', namespace: 'default', name: 'first' })
})

test('explanations of misconfigured gangs state what to change', () => {
  const nodes = hosts(1, '8', 'r1')
  const code = (objects: Partial<SnapshotObjects>) => {
    const base = { nodes, pods: members('c', 1, '1'), podGangs: [gangOf(1)], topologyBindings: [binding] }
    const { code, message } = explanationOf({ ...base, ...objects })
    return `${code}: ${message}`
  }
  equal(
    code({ pods: [memberPod('g', 'c', 0, { 'example.com/fpga': '1' })] }),
    'ResourceUnknown: no node offers example.com/fpga, which PodClique c requests',
  )
  equal(
    code({
      pods: members('c', 1, '1', { spec: { nodeSelector: { a: 'b' }, schedulerName: 'grove-scheduler' } }),
    }),
    'SelectorMatchesNoNode: node selector of PodClique c matches none of 1 nodes',
  )
  equal(
    code({ podGangs: [gangOf(1, { required: 'example.com/block' })] }),
    'TopologyLevelUnlabelled: no node has the labels of level example.com/block (example.com/block)',
  )
  equal(
    code({ podGangs: [gangOf(1, { priorityClassName: 'high' })] }),
    'PriorityClassNotFound: PriorityClass high does not exist',
  )
  equal(
    code({ pods: members('c', 1, '1', { spec: { schedulerName: 'grove-scheduler', schedulingGroup: {} } }) }),
    'UnsupportedConstraint: not supported by grove-scheduler: spec.schedulingGroup of PodClique c',
  )
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }]
  equal(
    code({ pods: members('c', 1, '1', { spec: { schedulerName: 'grove-scheduler', volumes } }) }),
    'ClaimNotFound: PersistentVolumeClaim data of PodClique c does not exist',
  )
})

test('explanations of blocked gangs state what they wait for', () => {
  const nodes = hosts(1, '8', 'r1')
  equal(
    explanationOf({ nodes, pods: members('c', 1, '1'), podGangs: [gangOf(2)] }).message,
    'PodClique c has 1 of 2 pods',
  )
  equal(
    explanationOf({ nodes, pods: members('c', 1, '1', { gated: true }), podGangs: [gangOf(1)] }).message,
    '1 pods of PodClique c wait for scheduling gate grove.io/podgang-pending-creation',
  )
  const scaled = explanationOf(
    {
      nodes,
      pods: [...members('c', 2, '8'), memberPod('s', 'd', 0, { [gpu]: '1' }, { gated: true, baseGang: 'g' })],
      podGangs: [gangOf(2), podGang('s', [{ name: 'd', min: 1 }])],
    },
    's',
  )
  equal(scaled.code, 'BaseGangNotScheduled')
  match(scaled.message, /^waits for base gang g: the gang needs 2 pods/)
  const ungated = explanationOf(
    {
      nodes,
      pods: [...members('c', 2, '8'), memberPod('s', 'd', 0, { [gpu]: '1' }, { baseGang: 'g' })],
      podGangs: [gangOf(2), podGang('s', [{ name: 'd', min: 1 }])],
    },
    's',
  )
  equal(ungated.message, scaled.message, 'with and without the gate')
})

test('pods that name a missing PodGang wait for it', () => {
  const objects = { nodes: hosts(1, '8', 'r1'), pods: members('c', 2, '1'), podGangs: [] }
  const { missingGangs, bindings } = plan(snapshotFrom(objects), defaultPolicy, 0)
  deepEqual(bindings, [])
  deepEqual(
    missingGangs.map(({ name, pods, explanation }) => [name, pods, explanation.message]),
    [['g', ['c-0', 'c-1'], 'PodGang g does not exist yet; 2 pods wait for it']],
  )
})

test('after any listed fix the gang is scheduled', context => {
  const tally = { gangs: 0, withoutFix: 0, fixes: 0 }
  fc.assert(
    fc.property(instances, objects => {
      const snapshot = snapshotFrom(objects)
      const decision = plan(snapshot, defaultPolicy, 0)
      decision.gangs.forEach(({ explanation, verdict }, index) => {
        if (verdict !== 'Unschedulable') return
        ok(explanation)
        if (explanation.fixes.length > 0) tally.gangs++
        else tally.withoutFix++
        const costs = explanation.fixes.map(({ cost }) => cost)
        deepEqual(
          costs,
          costs.toSorted((left, right) => left - right),
        )
        equal(new Set(explanation.fixes.map(({ op }) => op)).size, explanation.fixes.length)
        for (const fix of explanation.fixes) {
          const after = plan(applyFix(snapshot, index, fix), { ...defaultPolicy, fixes: false }, 0)
          equal(after.gangs[index]?.verdict, 'Scheduled', `${JSON.stringify(fix)} for ${explanation.code}`)
          tally.fixes++
        }
      })
    }),
    propertyOptions(120),
  )
  context.diagnostic(JSON.stringify(tally))
  ok(tally.fixes > 50, JSON.stringify(tally))
})

test('no smaller fix of a kind exists: single nodes, pods and groups are tried first', () => {
  fc.assert(
    fc.property(instances, objects => {
      const snapshot = snapshotFrom(objects)
      plan(snapshot, defaultPolicy, 0).gangs.forEach(({ explanation }, index) => {
        const uncordon = explanation?.fixes.find(({ op }) => op === 'Uncordon')
        if (!uncordon || uncordon.cost < 2) return
        for (const { name, unschedulable } of snapshot.nodes) {
          if (!unschedulable) continue
          const single = applyFix(snapshot, index, { op: 'Uncordon', nodes: [name], cost: 1 })
          const after = plan(single, { ...defaultPolicy, fixes: false }, 0)
          equal(after.gangs[index]?.verdict, 'Unschedulable')
        }
      })
    }),
    propertyOptions(60),
  )
})
