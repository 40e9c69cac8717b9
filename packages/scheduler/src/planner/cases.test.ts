// SPDX-License-Identifier: Apache-2.0

// Cases that schedulers which place pods or groups one by one cannot solve, and the acceptance scenarios of gangs.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod, PodGang } from '@grove/api'
import { defaultPolicy, plan, snapshotFrom } from '../index.ts'
import { gpu, memberPod, node, pod, podGang, topologyBinding } from '../testing/objects.ts'
import type { Decision, SnapshotObjects } from '../types.ts'

const key = {
  zone: 'example.com/zone',
  block: 'example.com/block',
  rack: 'example.com/rack',
  host: 'kubernetes.io/hostname',
}
const binding = topologyBinding('fabric', key)
const policy = { ...defaultPolicy, fixes: false }

function decide(objects: SnapshotObjects): Decision {
  return plan(snapshotFrom({ topologyBindings: [binding], ...objects }), policy, 0)
}

function hosts(
  count: number,
  prefix: string,
  labels: Record<string, string>,
  amounts = { [gpu]: '8', cpu: '64' },
): Node[] {
  return Array.from({ length: count }, (_, i) => node(`${prefix}-${i}`, amounts, { labels }))
}

function members(
  gang: string,
  clique: string,
  count: number,
  requests: Record<string, string>,
  options = {},
): Pod[] {
  return Array.from({ length: count }, (_, i) => memberPod(gang, clique, i, requests, options))
}

const wholeNode = { [gpu]: '8' }
const domainOf = (decision: Decision, nodes: readonly Node[], clique: string, label: string) =>
  new Set(
    decision.bindings
      .filter(({ podGroup }) => podGroup === clique)
      .map(binding => nodes.find(({ metadata }) => metadata.name === binding.node)?.metadata.labels?.[label]),
  )

for (const order of [
  [3, 3, 5],
  [5, 3, 3],
  [3, 5, 3],
  [2, 4, 5],
])
  test(`three cliques need ${order.join(', ')} nodes, each in one rack; racks of 6 and 5`, () => {
    const common = { [key.zone]: 'z', [key.block]: 'b' }
    const nodes = [
      ...hosts(6, 'a', { ...common, [key.rack]: 'a' }),
      ...hosts(5, 'b', { ...common, [key.rack]: 'b' }),
    ]
    const decision = decide({
      nodes,
      pods: order.flatMap((count, i) => members('g', `c${i}`, count, wholeNode)),
      podGangs: [
        podGang(
          'g',
          order.map((min, i) => ({ name: `c${i}`, min, required: key.rack })),
          { topology: 'fabric' },
        ),
      ],
    })
    equal(decision.gangs[0]?.verdict, 'Scheduled')
    equal(decision.bindings.length, 11)
    order.forEach((_, i) => {
      equal(domainOf(decision, nodes, `c${i}`, key.rack).size, 1)
    })
  })

test('leader {1 GPU, 40 CPU} and worker {4 GPU, 4 CPU} share one host of 8 GPU and 64 CPU', () => {
  const decision = decide({
    nodes: hosts(1, 'n', {}),
    pods: [
      ...members('g', 'leader', 1, { [gpu]: '1', cpu: '40' }),
      ...members('g', 'worker', 1, { [gpu]: '4', cpu: '4' }),
    ],
    podGangs: [
      podGang('g', [
        { name: 'leader', min: 1 },
        { name: 'worker', min: 1 },
      ]),
    ],
  })
  equal(decision.gangs[0]?.verdict, 'Scheduled')
})

test('1-GPU pod and 8-GPU pod: the small pod does not use the node with 8 free GPUs', () => {
  const decision = decide({
    nodes: [node('big', { [gpu]: '8', cpu: '128' }), node('small', { [gpu]: '4', cpu: '16' })],
    pods: [
      ...members('g', 'one', 1, { [gpu]: '1', cpu: '1' }),
      ...members('g', 'eight', 1, { [gpu]: '8', cpu: '1' }),
    ],
    podGangs: [
      podGang('g', [
        { name: 'one', min: 1 },
        { name: 'eight', min: 1 },
      ]),
    ],
  })
  deepEqual(Object.fromEntries(decision.bindings.map(({ podGroup, node }) => [podGroup, node])), {
    one: 'small',
    eight: 'big',
  })
})

test('required block, scaling group of 10 replicas, blocks of 18 and 10 nodes: all replicas share one block', () => {
  const nodes = [
    ...hosts(18, 'block-0', { [key.block]: 'block-0' }),
    ...hosts(10, 'block-1', { [key.block]: 'block-1' }),
  ]
  const levels = topologyBinding('two', { block: key.block, host: key.host })
  const half = { [gpu]: '4' }
  const options = { topology: 'two', required: key.block }
  const replica = (index: number) => ({ name: `w-0-x-${index}-c`, min: 2, required: key.host })
  const scaled: PodGang[] = []
  const pods: Pod[] = []
  for (let index = 0; index < 10; index++) {
    const gang = index < 3 ? 'w-0' : `w-0-x-${index - 3}`
    pods.push(
      ...members(gang, `w-0-x-${index}-c`, 2, half, index < 3 ? {} : { baseGang: 'w-0', gated: true }),
    )
    if (index >= 3) scaled.push(podGang(gang, [replica(index)], options))
  }
  const podGangs = [podGang('w-0', [0, 1, 2].map(replica), options), ...scaled]
  const first = decide({ nodes, pods, podGangs, topologyBindings: [levels] })
  equal(first.gangs[0]?.verdict, 'Scheduled')
  // The base gang is bound and the operator removes the gates.
  const bound = pods.map(entry => {
    const found = first.bindings.find(binding => binding.pod === entry.metadata.name)
    const { schedulingGates: _, ...spec } = entry.spec
    return { ...entry, spec: found ? { ...spec, nodeName: found.node } : spec }
  })
  const second = decide({ nodes, pods: bound, podGangs, topologyBindings: [levels] })
  ok(second.gangs.every(({ verdict }) => verdict === 'Scheduled'))
  const used = [...first.bindings, ...second.bindings]
  equal(used.length, 20)
  const blocks = used.map(
    binding => nodes.find(({ metadata }) => metadata.name === binding.node)?.metadata.labels?.[key.block],
  )
  equal(new Set(blocks).size, 1)
})

test('an impossible 10-pod gang on 500 nodes is proved impossible', () => {
  const nodes = hosts(500, 'n', { [key.zone]: 'z' })
  const busy = nodes.flatMap(({ metadata }, i) =>
    i < 491 ? [pod(`x${i}`, { [gpu]: '1' }, { node: metadata.name })] : [],
  )
  const decision = decide({
    nodes,
    pods: [...busy, ...members('g', 'c', 10, wholeNode)],
    podGangs: [podGang('g', [{ name: 'c', min: 10 }])],
  })
  equal(decision.gangs[0]?.verdict, 'Unschedulable')
  equal(decision.gangs[0]?.provenance, 'proved')
  equal(decision.gangs[0]?.explanation?.code, 'NodesFragmented')
})

test('preferred level: the narrowest common domain wins, then the fewest preferred domains', () => {
  const rack = (block: string, name: string, count: number) =>
    hosts(count, name, { [key.zone]: 'z', [key.block]: block, [key.rack]: name })
  const nodes = [
    ...rack('b1', 'r1', 1),
    ...rack('b1', 'r2', 3),
    ...rack('b1', 'r3', 2),
    ...rack('b2', 'r4', 3),
  ]
  const decision = decide({
    nodes,
    pods: members('g', 'c', 5, wholeNode),
    podGangs: [podGang('g', [{ name: 'c', min: 5 }], { topology: 'fabric', preferred: key.rack })],
  })
  // One rack is too small, block b1 holds the gang in two racks: L = 3, w = 1, d = 2.
  equal(decision.gangs[0]?.placementScore, (3 - 1 + 1 / 2) / 4)
  deepEqual(decision.gangs[0]?.scopes[0]?.preferred, {
    level: 'rack',
    key: key.rack,
    widened: 1,
    domains: 2,
    score: 0.625,
  })
})

/** The set of G3: clique a 2/1; scaling group x = {b 1/1, c 3/1}, replicas 2, minAvailable 1. Each pod fills a node. */
function scenario(
  slots: number,
  bound: Readonly<Record<string, string>>,
  options: { replicas?: number; sets?: number } = {},
) {
  const { replicas = 2, sets = 1 } = options
  const pods: Pod[] = []
  const podGangs: PodGang[] = []
  for (let set = 0; set < sets; set++) {
    const base = `w-${set}`
    const isBound = (name: string) => bound[name] !== undefined
    const baseIsScheduled = [`${base}-a-0`, `${base}-x-0-b-0`, `${base}-x-0-c-0`].every(isBound)
    const add = (gang: string, clique: string, count: number, scaled: boolean) => {
      for (let i = 0; i < count; i++)
        pods.push(
          memberPod(gang, clique, i, wholeNode, {
            ...(scaled ? { baseGang: base, gated: !baseIsScheduled } : {}),
            ...(isBound(`${clique}-${i}`) ? { node: bound[`${clique}-${i}`]! } : {}),
          }),
        )
    }
    add(base, `${base}-a`, 2, false)
    add(base, `${base}-x-0-b`, 1, false)
    add(base, `${base}-x-0-c`, 3, false)
    podGangs.push(
      podGang(base, [
        { name: `${base}-a`, min: 1 },
        { name: `${base}-x-0-b`, min: 1 },
        { name: `${base}-x-0-c`, min: 1 },
      ]),
    )
    for (let k = 1; k < replicas; k++) {
      const gang = `${base}-x-${k - 1}`
      add(gang, `${base}-x-${k}-b`, 1, true)
      add(gang, `${base}-x-${k}-c`, 3, true)
      podGangs.push(
        podGang(gang, [
          { name: `${base}-x-${k}-b`, min: 1 },
          { name: `${base}-x-${k}-c`, min: 1 },
        ]),
      )
    }
  }
  const nodes = hosts(slots, 'n', {})
  return decide({ nodes, pods, podGangs })
}

/** Pods and nodes after the bindings of a decision. */
function after(decision: Decision, bound: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...bound, ...Object.fromEntries(decision.bindings.map(({ pod, node }) => [pod, node])) }
}

const cliques = (decision: Decision) => decision.bindings.map(({ podGroup }) => podGroup).sort()

test('G1: ten pods with capacity for nine: none is placed; with the tenth slot all start', () => {
  const objects = (slots: number) => ({
    nodes: hosts(slots, 'n', {}),
    pods: [...members('g', 'a', 4, wholeNode), ...members('g', 'b', 6, wholeNode)],
    podGangs: [
      podGang('g', [
        { name: 'a', min: 4 },
        { name: 'b', min: 6 },
      ]),
    ],
  })
  deepEqual(decide(objects(9)).bindings, [])
  equal(decide(objects(10)).bindings.length, 10)
})

test('G3 to G5: two slots place nothing, three the base minimum, two more the scaled minimum', () => {
  deepEqual(scenario(2, {}).bindings, [])
  const base = scenario(3, {})
  deepEqual(cliques(base), ['w-0-a', 'w-0-x-0-b', 'w-0-x-0-c'])
  deepEqual(cliques(scenario(5, after(base))), ['w-0-x-1-b', 'w-0-x-1-c'])
})

test('G6: minima of scaled gangs are placed before the surplus of the base gang', () => {
  const base = scenario(3, {}, { replicas: 3 })
  equal(base.bindings.length, 3)
  const next = scenario(7, after(base), { replicas: 3 })
  deepEqual(cliques(next), ['w-0-x-1-b', 'w-0-x-1-c', 'w-0-x-2-b', 'w-0-x-2-c'])
  ok(next.bindings.every(({ part }) => part === 'minimum'))
})

test('G7: both base minima, then both scaled minima', () => {
  const base = scenario(6, {}, { sets: 2 })
  equal(base.bindings.length, 6)
  deepEqual(cliques(scenario(10, after(base), { sets: 2 })), [
    'w-0-x-1-b',
    'w-0-x-1-c',
    'w-1-x-1-b',
    'w-1-x-1-c',
  ])
})

test('T4: gang in one block, scaling-group replica in one rack, clique on one host', () => {
  const rack = (block: string, name: string, count: number) =>
    hosts(count, name, { [key.zone]: 'z', [key.block]: block, [key.rack]: name })
  const nodes = [
    ...rack('b1', 'r1', 1),
    ...rack('b1', 'r2', 1),
    ...rack('b2', 'r3', 2),
    ...rack('b2', 'r4', 2),
  ]
  const quarter = { [gpu]: '4' }
  const replicas = ['x-0', 'x-1']
  const decision = decide({
    nodes,
    pods: replicas.flatMap(name => [
      ...members('g', `${name}-l`, 2, quarter),
      ...members('g', `${name}-w`, 2, quarter),
    ]),
    podGangs: [
      podGang(
        'g',
        replicas.flatMap(name => [
          { name: `${name}-l`, min: 2, required: key.host },
          { name: `${name}-w`, min: 2, required: key.host },
        ]),
        {
          topology: 'fabric',
          required: key.block,
          configs: replicas.map(name => ({ name, groups: [`${name}-l`, `${name}-w`], required: key.rack })),
        },
      ),
    ],
  })
  equal(decision.gangs[0]?.verdict, 'Scheduled')
  for (const name of replicas) {
    equal(domainOf(decision, nodes, `${name}-l`, key.host).size, 1)
    deepEqual(
      domainOf(decision, nodes, `${name}-l`, key.rack),
      domainOf(decision, nodes, `${name}-w`, key.rack),
    )
  }
  deepEqual(domainOf(decision, nodes, 'x-0-l', key.block), new Set(['b2']))
})

test('T7: required rack, racks too small: no pod is placed', () => {
  const nodes = [...hosts(6, 'a', { [key.rack]: 'a' }), ...hosts(6, 'b', { [key.rack]: 'b' })]
  const decision = decide({
    nodes,
    pods: members('g', 'c', 10, wholeNode),
    podGangs: [podGang('g', [{ name: 'c', min: 10 }], { required: key.rack })],
  })
  equal(decision.gangs[0]?.verdict, 'Unschedulable')
  deepEqual(decision.bindings, [])
})

test('surplus grows groups evenly relative to their minimum', () => {
  const decision = decide({
    nodes: hosts(6, 'n', {}),
    pods: [...members('g', 'a', 4, wholeNode), ...members('g', 'b', 4, wholeNode)],
    podGangs: [
      podGang('g', [
        { name: 'a', min: 1 },
        { name: 'b', min: 2 },
      ]),
    ],
  })
  deepEqual(
    decision.bindings.filter(({ part }) => part === 'surplus').map(({ podGroup }) => podGroup),
    ['a', 'b', 'b'],
  )
})

test('a gang of higher priority is scheduled first', () => {
  const priorityClass = {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'high' },
    value: 10,
  } as const
  const decision = decide({
    nodes: hosts(1, 'n', {}),
    pods: [...members('a', 'ca', 1, wholeNode), ...members('b', 'cb', 1, wholeNode)],
    podGangs: [
      podGang('a', [{ name: 'ca', min: 1 }]),
      podGang('b', [{ name: 'cb', min: 1 }], { priorityClassName: 'high' }),
    ],
    priorityClasses: [priorityClass],
  })
  deepEqual(
    decision.gangs.map(({ name, verdict }) => [name, verdict]),
    [
      ['b', 'Scheduled'],
      ['a', 'Unschedulable'],
    ],
  )
})

test('an accepted gang moves if a later gang needs its nodes and both fit', () => {
  const nodes = [node('any', { [gpu]: '8' }, { labels: { pool: 'x' } }), node('other', { [gpu]: '8' })]
  const decision = decide({
    nodes,
    pods: [
      ...members('a', 'ca', 1, wholeNode),
      ...members('b', 'cb', 1, wholeNode, {
        spec: { schedulerName: 'grove-scheduler', nodeSelector: { pool: 'x' } },
      }),
    ],
    podGangs: [podGang('a', [{ name: 'ca', min: 1 }]), podGang('b', [{ name: 'cb', min: 1 }])],
  })
  deepEqual(Object.fromEntries(decision.bindings.map(({ gang, node }) => [gang, node])), {
    a: 'other',
    b: 'any',
  })
})

test('a group with pods of two templates: the pods that fit form the minimum', () => {
  const decision = (gpus: string) =>
    decide({
      nodes: [node('n', { [gpu]: gpus })],
      pods: [memberPod('g', 'c', 0, { [gpu]: '8' }), memberPod('g', 'c', 1, { [gpu]: '2' })],
      podGangs: [podGang('g', [{ name: 'c', min: 1 }])],
    })
  deepEqual(
    decision('4').bindings.map(({ pod, part }) => [pod, part]),
    [['c-1', 'minimum']],
  )
  deepEqual(
    decision('10').bindings.map(({ pod, part }) => [pod, part]),
    [
      ['c-0', 'minimum'],
      ['c-1', 'surplus'],
    ],
  )
  const [gang] = decision('1').gangs
  deepEqual([gang?.verdict, gang?.provenance], ['Unschedulable', 'proved'])
})

for (const { title, clusterNodes, bound, expected } of [
  {
    title: 'takes an unused node without devices before a node in use with free devices',
    clusterNodes: [node('gpus', { [gpu]: '8', cpu: '64' }), node('plain', { cpu: '64' })],
    bound: { [gpu]: '4', cpu: '4' },
    expected: 'plain',
  },
  {
    title: 'takes a node whose devices are all in use before an unused node without devices',
    clusterNodes: [node('gpus', { [gpu]: '8', cpu: '64' }), node('plain', { cpu: '64' })],
    bound: { [gpu]: '8', cpu: '4' },
    expected: 'gpus',
  },
  {
    title: 'takes a node in use before an unused one if both have free devices',
    clusterNodes: [node('gpus', { [gpu]: '8', cpu: '64' }), node('small', { [gpu]: '2', cpu: '64' })],
    bound: { [gpu]: '1', cpu: '4' },
    expected: 'gpus',
  },
])
  test(`a pod without devices ${title}`, () => {
    const decision = decide({
      nodes: clusterNodes,
      pods: [pod('bound', bound, { node: 'gpus' }), ...members('g', 'frontend', 1, { cpu: '8' })],
      podGangs: [podGang('g', [{ name: 'frontend', min: 1 }])],
    })
    deepEqual(
      decision.bindings.map(binding => binding.node),
      [expected],
    )
  })

test('an earlier gang with pods of two templates takes the pods that leave room for a later gang', () => {
  const gpus = [8, 4, 8]
  const pods = gpus.map((count, i) => {
    const gang = i < 2 ? 'updated' : 'later'
    return memberPod(gang, `${gang}-c`, i, { [gpu]: String(count) })
  })
  const podGangs = ['updated', 'later'].map((name, i) =>
    podGang(name, [{ name: `${name}-c`, min: 1 }], { createdAt: `2026-01-01T00:00:0${i}Z` }),
  )
  const nodes = [node('small', { [gpu]: '4' }), node('large', { [gpu]: '8' })]
  const { gangs, bindings } = plan(snapshotFrom({ nodes, pods, podGangs }), defaultPolicy, 0)
  deepEqual(
    gangs.map(({ verdict, provenance }) => [verdict, provenance]),
    [
      ['Scheduled', 'budget-exhausted'],
      ['Scheduled', 'proved'],
    ],
  )
  deepEqual(
    bindings.map(({ pod, node }) => [pod, node]),
    [
      ['updated-c-1', 'small'],
      ['later-c-2', 'large'],
    ],
  )
})
