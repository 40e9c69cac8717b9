// SPDX-License-Identifier: Apache-2.0

// Objects that no API server would accept, or that no administrator intends: the planner explains them and never
// guesses.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod, PodGang } from '@grove/api'
import fc from 'fast-check'
import { catalogue, defaultPolicy, plan, snapshotFrom } from '../index.ts'
import { propertyOptions } from '../testing/instances.ts'
import { gpu, memberPod, node, podGang, topologyBinding } from '../testing/objects.ts'
import type { Decision, SnapshotObjects } from '../types.ts'

const policy = { ...defaultPolicy, budget: { gang: 20_000, cycle: 40_000 } }
const fabric = topologyBinding('fabric', { zone: 'zone', rack: 'rack' })

const quantity = fc.constantFrom('0', '1', '-1', '1e30', '9007199254740993', '0.0001', 'abc', '', '1Ei', '8')
const key = fc.constantFrom('zone', 'rack', 'unknown', '', 'kubernetes.io/hostname')

const nodeArbitrary: fc.Arbitrary<Node> = fc
  .record({
    name: fc.constantFrom('a', 'b', 'c', '__proto__', ''),
    cpu: quantity,
    gpus: quantity,
    labels: fc.constantFrom<Record<string, string> | undefined>(
      undefined,
      {},
      { zone: 'z', rack: 'r' },
      { rack: '__proto__' },
      { zone: '', rack: '' },
    ),
    isBare: fc.boolean(),
  })
  .map(({ name, cpu, gpus, labels, isBare }) =>
    isBare
      ? ({ apiVersion: 'v1', kind: 'Node', metadata: { name } } as Node)
      : { ...node(name, { cpu, [gpu]: gpus }), metadata: { name, ...(labels ? { labels } : {}) } },
  )

const constraint = fc.record({ required: key, preferred: key })

const gangArbitrary: fc.Arbitrary<{ gang: PodGang; pods: Pod[] }> = fc
  .record({
    name: fc.constantFrom('g', 'h', 'constructor'),
    groups: fc.array(
      fc.record({
        clique: fc.constantFrom('c', 'd', '__proto__'),
        min: fc.constantFrom(-1, 0, 1, 2, 1_000_000),
        pods: fc.integer({ min: 0, max: 3 }),
        cpu: quantity,
        at: fc.constantFrom(undefined, 'a', 'missing'),
        constraint,
      }),
      { maxLength: 3 },
    ),
    constraint,
    topology: fc.constantFrom(undefined, 'fabric', 'missing'),
  })
  .map(({ name, groups, constraint, topology }) => ({
    gang: podGang(
      name,
      groups.map(({ clique, min, constraint }) => ({ name: clique, min, ...constraint })),
      {
        ...constraint,
        ...(topology ? { topology } : {}),
        configs: [{ name: 'config', groups: ['c', 'nothing'], ...constraint }],
      },
    ),
    pods: groups.flatMap(({ clique, pods, cpu, at }) =>
      Array.from({ length: pods }, (_, i) => memberPod(name, clique, i, { cpu }, at ? { node: at } : {})),
    ),
  }))

const clusters = fc
  .record({
    nodes: fc.uniqueArray(nodeArbitrary, { maxLength: 5, selector: ({ metadata }) => metadata.name }),
    gangs: fc.uniqueArray(gangArbitrary, { maxLength: 2, selector: ({ gang }) => gang.metadata.name }),
  })
  .map(
    ({ nodes, gangs }): SnapshotObjects => ({
      nodes,
      podGangs: gangs.map(({ gang }) => gang),
      pods: gangs.flatMap(({ pods }) => pods),
      topologyBindings: [fabric],
    }),
  )

function checkComplete({ gangs, bindings }: Decision): void {
  for (const { verdict, explanation, pods } of gangs) {
    if (verdict === 'Scheduled') continue
    ok(explanation && Object.hasOwn(catalogue, explanation.code))
    ok(
      !explanation.message.includes('undefined') && !explanation.message.includes('NaN'),
      explanation.message,
    )
    deepEqual(
      pods.filter(({ node }) => node !== null),
      [],
    )
  }
  for (const { node } of bindings) ok(node !== undefined)
}

test('any input gets a decision, and every gang that waits an explanation from the catalogue', () => {
  const codes = new Set<string>()
  let scheduled = 0
  fc.assert(
    fc.property(clusters, objects => {
      const decision = plan(snapshotFrom(objects), policy, 0)
      checkComplete(decision)
      for (const { explanation, verdict } of decision.gangs)
        if (explanation) codes.add(explanation.code)
        else if (verdict === 'Scheduled') scheduled++
      // No pod is bound to a node that lists less than it requests.
      for (const binding of decision.bindings) {
        const { status } = objects.nodes.find(({ metadata }) => metadata.name === binding.node)!
        const pod = objects.pods.find(({ metadata }) => metadata.name === binding.pod)!
        const cpu = pod.spec.containers[0]!.resources!.requests!.cpu
        ok(
          ['0', '1', '-1', '0.0001', '8', '', '1Ei', '1e30', '9007199254740993'].includes(String(cpu)),
          String(cpu),
        )
        ok(status?.allocatable?.pods !== undefined)
      }
    }),
    propertyOptions(2000),
  )
  ok(scheduled > 10 && codes.size > 5, `${scheduled} scheduled, codes ${[...codes]}`)
})

test('never counts a quantity that cannot be parsed as zero', () => {
  const objects = {
    nodes: [node('a', { cpu: '8' })],
    pods: [memberPod('g', 'c', 0, { cpu: 'abc' })],
    podGangs: [podGang('g', [{ name: 'c', min: 1 }])],
  }
  const [gang] = plan(snapshotFrom(objects), policy, 0).gangs
  equal(gang?.explanation?.code, 'UnsupportedConstraint')
})

test('a request above the exact number range fits nowhere', () => {
  const objects = {
    nodes: [node('a', { cpu: '1e30' })],
    pods: [memberPod('g', 'c', 0, { cpu: '1e29' })],
    podGangs: [podGang('g', [{ name: 'c', min: 1 }])],
  }
  equal(plan(snapshotFrom(objects), policy, 0).gangs[0]?.explanation?.code, 'PodTooLarge')
})

test('10,000 domains of one node: a gang of two in one domain is proved impossible', () => {
  const nodes = Array.from({ length: 10_000 }, (_, i) =>
    node(`n${i}`, { [gpu]: '8' }, { labels: { zone: 'z', rack: `r${i}` } }),
  )
  const pods = [0, 1].map(i => memberPod('g', 'c', i, { [gpu]: '8' }))
  const podGangs = [podGang('g', [{ name: 'c', min: 2 }], { topology: 'fabric', required: 'rack' })]
  const decision = plan(snapshotFrom({ nodes, pods, podGangs, topologyBindings: [fabric] }), defaultPolicy, 0)
  equal(decision.gangs[0]?.explanation?.code, 'DomainTooSmall')
  equal(decision.gangs[0]?.provenance, 'proved')
  ok(decision.gangs[0]?.explanation?.fixes.some(({ op }) => op === 'RelaxTopology'))
})

test('gangs that name each other or themselves as base gang are blocked, with a message', () => {
  const waiting = (name: string, baseGang: string) =>
    memberPod(name, `${name}-w`, 0, { cpu: '1' }, { baseGang })
  const { gangs } = plan(
    snapshotFrom({
      nodes: [node('n', { cpu: '4' })],
      pods: [waiting('a', 'b'), waiting('b', 'a'), waiting('own', 'own')],
      podGangs: ['a', 'b', 'own'].map(name => podGang(name, [{ name: `${name}-w`, min: 1 }])),
    }),
    defaultPolicy,
    0,
  )
  deepEqual(
    gangs.map(({ name, verdict, explanation }) => [name, verdict, explanation?.message]),
    [
      ['a', 'Blocked', 'waits for base gang b: waits for base gang a: it waits for itself'],
      ['b', 'Blocked', 'waits for base gang a: waits for base gang b: it waits for itself'],
      ['own', 'Blocked', 'waits for base gang own: it waits for itself'],
    ],
  )
})
