// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Pod } from '../controllers/kinds.ts'
import { podOf } from '../controllers/testing/test-cluster.ts'
import { nodeOf } from '../nodes/node.ts'
import { type NodePlan, plainNodes } from '../nodes/topology.ts'
import { ClusterState } from './cluster-state.ts'
import { explainRejections } from './explanation.ts'
import { podInfo } from './pod-info.ts'
import { planPreemption } from './preemption.ts'
import { selectNode } from './select-node.ts'

const zone = 'topology.kubernetes.io/zone'
const hostname = 'kubernetes.io/hostname'
const first = { random: () => 0.999 }

function clusterOf(
  plans: readonly NodePlan[],
  assigned: readonly (readonly [string, Pod])[] = [],
): ClusterState {
  const state = new ClusterState()
  for (const plan of plans) state.setNode(nodeOf(plan, 0))
  for (const [node, pod] of assigned) state.setPod(podInfo(pod), node)
  return state
}

function plan(name: string, more: Partial<NodePlan> = {}): NodePlan {
  return { name, cpu: '2', memory: '4Gi', pods: 10, ...more, labels: { [hostname]: name, ...more.labels } }
}

/** Returns the node, or why there is none. */
function decisionOf(pod: Pod, state: ClusterState): string {
  const placement = selectNode(podInfo(pod), state, first)
  return placement.ok
    ? placement.node.name
    : explainRejections(state.nodes.length, placement.rejections.values())
}

const near = (app: string, topologyKey = hostname) => [
  { topologyKey, labelSelector: { matchLabels: { app } } },
]
const required = 'requiredDuringSchedulingIgnoredDuringExecution'

describe('a pod is scheduled', () => {
  const a = plan('a', { labels: { [zone]: 'east', disk: 'fast' } })
  const b = plan('b', {
    labels: { [zone]: 'west' },
    taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }],
  })
  const full: Pod = podOf('full', { requests: { cpu: '2' }, labels: { app: 'web' } })
  const rules: readonly (readonly [string, Pod, readonly (readonly [string, Pod])[], string])[] = [
    ['on a node without restrictions', podOf('p'), [], 'a'],
    [
      'nowhere without free resources, and the message names what is insufficient',
      podOf('p', { requests: { cpu: '1500m' } }),
      [['a', full]],
      '0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).',
    ],
    [
      'on a node whose taint it tolerates',
      podOf('p', { requests: { cpu: '1' }, spec: { tolerations: [{ key: 'gpu', operator: 'Exists' }] } }),
      [['a', full]],
      'b',
    ],
    [
      'according to its node selector',
      podOf('p', { spec: { nodeSelector: { disk: 'slow' } } }),
      [],
      "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s).",
    ],
    [
      'according to its node affinity, also by node name',
      podOf('p', {
        spec: {
          tolerations: [{ operator: 'Exists' }],
          affinity: {
            nodeAffinity: {
              [required]: {
                nodeSelectorTerms: [
                  { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['b'] }] },
                ],
              },
            },
          },
        },
      }),
      [],
      'b',
    ],
    [
      'in the domain of a pod that it has affinity to',
      podOf('p', {
        spec: {
          tolerations: [{ operator: 'Exists' }],
          affinity: { podAffinity: { [required]: near('web', zone) } },
        },
      }),
      [['b', full]],
      'b',
    ],
    [
      'outside the domain of a pod that it has anti-affinity to',
      podOf('p', {
        spec: {
          tolerations: [{ operator: 'Exists' }],
          affinity: { podAntiAffinity: { [required]: near('web') } },
        },
      }),
      [
        ['a', podOf('x', { labels: { app: 'web' } })],
        ['b', podOf('y', { labels: { app: 'web' } })],
      ],
      "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules.",
    ],
    [
      'outside the domain of a pod that has anti-affinity to it',
      podOf('p', { labels: { app: 'web' } }),
      [['a', podOf('x', { spec: { affinity: { podAntiAffinity: { [required]: near('web') } } } })]],
      "0/2 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules, 1 node(s) had untolerated taint(s).",
    ],
    [
      'anywhere, as the first pod of a group with affinity to itself',
      podOf('p', {
        labels: { app: 'web' },
        spec: { affinity: { podAffinity: { [required]: near('web') } } },
      }),
      [],
      'a',
    ],
    [
      'on a node where its host port is free',
      podOf('p', { spec: { containers: [{ name: 'c', ports: [{ hostPort: 80 }] }] } }),
      [['a', podOf('x', { spec: { containers: [{ name: 'c', ports: [{ hostPort: 80 }] }] } })]],
      "0/2 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, 1 node(s) had untolerated taint(s).",
    ],
    [
      'in the domain with the fewest matching pods of its spread constraint',
      podOf('p', {
        labels: { app: 'web' },
        spec: {
          tolerations: [{ operator: 'Exists' }],
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: zone,
              whenUnsatisfiable: 'DoNotSchedule',
              labelSelector: { matchLabels: { app: 'web' } },
            },
          ],
        },
      }),
      [['a', podOf('x', { labels: { app: 'web' } })]],
      'b',
    ],
  ]
  for (const [text, pod, assigned, expected] of rules)
    it(text, () => assert.equal(decisionOf(pod, clusterOf([a, b], assigned)), expected))

  it('not on a cordoned node, unless it tolerates the taint', () => {
    const state = new ClusterState()
    state.setNode({ ...nodeOf(plan('a'), 0), spec: { unschedulable: true } })
    assert.equal(decisionOf(podOf('p'), state), '0/1 nodes are available: 1 node(s) were unschedulable.')
    const tolerations = [
      { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
    ]
    assert.equal(decisionOf(podOf('p', { spec: { tolerations } }), state), 'a')
  })

  it('not beyond the pod capacity of a node, and the message names every insufficient resource', () => {
    const state = clusterOf(
      [plan('a', { pods: 1, gpus: 1 })],
      [['a', podOf('x', { requests: { 'nvidia.com/gpu': '1' } })]],
    )
    assert.equal(
      decisionOf(podOf('p', { requests: { 'nvidia.com/gpu': '1' } }), state),
      '0/1 nodes are available: 1 Insufficient nvidia.com/gpu, 1 Too many pods.',
    )
  })

  it('on the node with more free resources', () => {
    const state = clusterOf(
      [plan('a'), plan('b')],
      [['a', podOf('x', { requests: { cpu: '1', memory: '1Gi' } })]],
    )
    assert.equal(decisionOf(podOf('p'), state), 'b')
  })
})

describe('preemption', () => {
  const of = (name: string, priority: number, cpu: string) =>
    podOf(name, {
      requests: { cpu },
      spec: { containers: [{ name: 'c', resources: { requests: { cpu } } }], priority },
    })

  it('chooses the fewest victims with the lowest priority', () => {
    const state = clusterOf(
      [plan('a'), plan('b')],
      [
        ['a', of('a1', 1, '1')],
        ['a', of('a2', 5, '1')],
        ['b', of('b1', 3, '2')],
      ],
    )
    const pod = podInfo(of('p', 10, '1'))
    const placement = selectNode(pod, state, first)
    assert.ok(!placement.ok)
    const result = planPreemption(pod, state, placement.rejections)
    assert.ok(result.ok)
    assert.equal(result.node.name, 'a')
    assert.deepEqual(
      result.victims.map(({ key }) => key),
      ['default/a1'],
    )
    assert.equal(state.assignmentOf('default/a1')?.node.name, 'a')
  })

  it('reports why it does not help', () => {
    const state = clusterOf([plan('a'), plan('b', { cpu: '1' })], [['a', of('a1', 10, '2')]])
    const pod = podInfo(of('p', 10, '2'))
    const placement = selectNode(pod, state, first)
    assert.ok(!placement.ok)
    assert.deepEqual(planPreemption(pod, state, placement.rejections), {
      ok: false,
      message:
        '0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.',
    })
  })
})

describe('the cluster state', () => {
  const step = fc.record({
    op: fc.constantFrom('place', 'remove', 'dropNode', 'addNode'),
    pod: fc.nat(30),
    node: fc.nat(4),
    cpu: fc.integer({ min: 0, max: 3_000 }),
    memory: fc.integer({ min: 0, max: 5_000 }),
  })

  it('never lets assigned pods exceed the capacity of a node, and counts them exactly', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), fc.nat(1_000), (steps, seed) => {
        const plans = plainNodes(5, { cpu: '4', memory: '6Gi', pods: 4 })
        const state = clusterOf(plans)
        let value = seed
        const random = () => {
          value = (value * 16_807 + 11) % 2_147_483_647
          return value / 2_147_483_647
        }
        for (const { op, pod, node, cpu, memory } of steps) {
          if (op === 'remove') state.removePod(`default/p${pod}`)
          else if (op === 'dropNode') state.removeNode(plans[node]!.name)
          else if (op === 'addNode') state.setNode(nodeOf(plans[node]!, 0))
          else {
            const info = podInfo(podOf(`p${pod}`, { requests: { cpu: `${cpu}m`, memory: `${memory}Mi` } }))
            state.removePod(info.key)
            const placement = selectNode(info, state, { random })
            if (placement.ok) state.setPod(info, placement.node.name)
          }
          for (const each of state.nodes) {
            assert.ok(each.free('cpu') >= 0 && each.free('memory') >= 0 && each.pods.size <= 4)
            const counted = [...each.pods.values()].reduce(
              (sum, { requests }) => sum + (requests.get('cpu') ?? 0),
              0,
            )
            assert.equal(each.requested.get('cpu') ?? 0, counted)
          }
        }
      }),
      { numRuns: 200 },
    )
  })
})
