// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultConfiguration, type Node, type OperatorConfiguration, type PodCliqueSet } from '@grove/api'
import type { AdmissionRequest } from '@grove/kube/admission'
import { nodeText } from './node-text.ts'
import { mostPods, type PlacementFacts, placementWarnings } from './placement-warnings.ts'
import { placementWebhook } from './placement-webhook.ts'

const gpu = 'nvidia.com/gpu'
const rack = 'topology.kubernetes.io/rack'

function node(name: string, spec: Node['spec'] = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { [rack]: `r${name[0]}`, 'kubernetes.io/hostname': name } },
    spec,
    status: { allocatable: { cpu: '16', memory: '64Gi', pods: '110', [gpu]: '8' } },
  }
}

/** Two racks of two nodes. */
const names = ['1a', '1b', '2a', '2b']
const facts = (spec?: Node['spec']): PlacementFacts => ({
  nodes: names.map(name => node(name, spec)),
  topologyBindings: [
    {
      apiVersion: 'grove.io/v1alpha1',
      kind: 'ClusterTopologyBinding',
      metadata: { name: 'fabric' },
      spec: { levels: [{ domain: 'rack', key: rack }] },
    },
  ],
})

const configuration: OperatorConfiguration = {
  ...defaultConfiguration(),
  scheduler: {
    profiles: [{ name: 'grove-scheduler' }, { name: 'default-scheduler' }],
    defaultProfileName: 'grove-scheduler',
  },
  topologyAwareScheduling: { enabled: true },
  placementWarnings: { enabled: true },
}

interface Options {
  readonly replicas?: number
  readonly pods: number
  readonly minAvailable?: number
  readonly gpus?: number
  readonly required?: string
  readonly podSpec?: object
}

function set({ replicas = 1, pods, minAvailable, gpus = 8, required, podSpec }: Options): PodCliqueSet {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name: 'llm', namespace: 'default' },
    spec: {
      replicas,
      template: {
        cliques: [
          {
            name: 'worker',
            spec: {
              roleName: 'worker',
              replicas: pods,
              minAvailable: minAvailable ?? pods,
              podSpec: {
                containers: [{ name: 'main', resources: { requests: { cpu: '1', [gpu]: String(gpus) } } }],
                ...podSpec,
              },
            },
          },
        ],
        ...(required && { topologyConstraint: { topologyName: 'fabric', pack: { required } } }),
      },
    },
  } as unknown as PodCliqueSet
}

const always = 'cannot be scheduled on the present 4 nodes, even if they were empty'

describe('warnings about placement', () => {
  const rows: [string, Options, string[]][] = [
    ['a set that fits', { pods: 4 }, []],
    [
      'a pod that is larger than every node',
      { pods: 1, gpus: 9 },
      [
        `PodGang llm-0 ${always}: a pod of PodClique llm-0-worker needs 9 nvidia.com/gpu; the largest node 1a has 8`,
      ],
    ],
    [
      'more pods than all nodes hold',
      { pods: 5 },
      [`PodGang llm-0 ${always}: the gang needs 5 pods; all 4 eligible nodes together can hold 4 pods`],
    ],
    ['surplus pods that do not fit', { pods: 5, minAvailable: 4 }, []],
    [
      'more pods in one rack than a rack holds',
      { pods: 3, required: 'rack' },
      [
        `PodGang llm-0 ${always}: PodGang llm-0 needs 3 pods in one rack; the largest rack r1 can ever hold 2 pods`,
      ],
    ],
    [
      'replicas that fit only one after the other',
      { pods: 2, replicas: 3 },
      [
        'only 2 of 3 PodGangs of PodCliqueSet llm fit on the present 4 nodes at the same time, even if they were empty',
      ],
    ],
    [
      'a node selector that no node has',
      { pods: 1, podSpec: { nodeSelector: { pool: 'blue' } } },
      [`PodGang llm-0 ${always}: node selector of PodClique llm-0-worker matches none of 4 nodes`],
    ],
    [
      'a claim, which only the scheduler can evaluate',
      { pods: 1, podSpec: { resourceClaims: [{ name: 'c' }] } },
      [],
    ],
    [
      'more pods of each host than anti-affinity allows',
      {
        pods: 5,
        gpus: 1,
        podSpec: {
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                {
                  topologyKey: 'kubernetes.io/hostname',
                  labelSelector: { matchExpressions: [{ key: 'grove.io/podclique', operator: 'Exists' }] },
                },
              ],
            },
          },
        },
      },
      [`PodGang llm-0 ${always}: pod anti-affinity of PodClique llm-0-worker leaves 4 of 5 nodes`],
    ],
    ['a set without replicas', { pods: 9, replicas: 0 }, []],
  ]
  for (const [name, options, expected] of rows)
    test(name, () => assert.deepEqual(placementWarnings(set(options), facts(), configuration), expected))

  test('cordons and taints of node conditions cause no warning, other taints do', () => {
    const taint = (key: string) => ({ taints: [{ key, effect: 'NoSchedule' }] })
    const warned = (spec: Node['spec']) => placementWarnings(set({ pods: 1 }), facts(spec), configuration)
    assert.deepEqual(warned({ unschedulable: true }), [])
    assert.deepEqual(warned(taint('node.kubernetes.io/not-ready')), [])
    assert.match(warned(taint('reserved')).join(), /fits if PodClique llm-0-worker tolerated reserved/)
  })

  test('kube-scheduler ignores required levels, so they cause no warning for its sets', () => {
    const podSpec = { schedulerName: 'default-scheduler' }
    const foreign = set({ pods: 3, required: 'rack', podSpec })
    assert.deepEqual(placementWarnings(foreign, facts(), configuration), [])
  })

  test('a replica with too many pods to evaluate causes no warning; many replicas are evaluated one by one', () => {
    assert.deepEqual(placementWarnings(set({ pods: mostPods + 1 }), facts(), configuration), [])
    const many = placementWarnings(set({ pods: 5, replicas: mostPods }), facts(), configuration)
    assert.match(many.join(), /all 4 eligible nodes together can hold 4 pods/)
    assert.deepEqual(placementWarnings(set({ pods: 4, replicas: mostPods }), facts(), configuration), [])
  })

  test('unknown nodes cause no warning', () => {
    assert.deepEqual(placementWarnings(set({ pods: 9 }), { ...facts(), nodes: [] }, configuration), [])
  })
})

describe('the webhook for placement', () => {
  const sent = { ...facts(), nodes: facts().nodes.map(nodeText) }
  const webhook = placementWebhook(configuration)
  const request = (over: Partial<AdmissionRequest>) =>
    ({ operation: 'CREATE', object: set({ pods: 5 }), namespace: 'default', ...over }) as AdmissionRequest

  test('allows a set that cannot fit, with a warning', () => {
    const { allowed, warnings } = webhook.decide(request({}), sent)
    assert.equal(allowed, true)
    assert.equal(warnings?.length, 1)
  })

  test('allows every request that it cannot evaluate', () => {
    for (const object of [undefined, {}, { spec: 1 }, { ...set({ pods: 5 }), spec: { replicas: 1 } }])
      assert.equal(webhook.decide(request({ object }), sent).allowed, true)
    assert.deepEqual(webhook.decide(request({}), undefined), { allowed: true, code: 200 })
  })

  test('reads the nodes only if the spec is new or changed', () => {
    const object = set({ pods: 5 })
    assert.equal(webhook.question?.(request({})), 'nodes')
    const update = (oldObject: object) => request({ operation: 'UPDATE', oldObject })
    assert.equal(webhook.question?.(update(object)), undefined)
    assert.equal(webhook.question?.(update(set({ pods: 4 }))), 'nodes')
    assert.equal(webhook.question?.(request({ operation: 'DELETE' })), undefined)
  })
})
