// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, PodGang, PriorityClass } from '@grove/api'
import fc from 'fast-check'
import { defaultPolicy, plan, snapshotFrom } from '../index.ts'
import { propertyOptions } from '../testing/instances.ts'
import { gpu, memberPod, node, podGang, topologyBinding } from '../testing/objects.ts'
import { fitsTogether } from '../testing/oracle.ts'
import type { Decision, SnapshotObjects } from '../types.ts'

const policy = { ...defaultPolicy, fixes: false, preemption: 'Enabled' } as const
const classOf = (name: string, value: number, preemptionPolicy = 'PreemptLowerPriority'): PriorityClass => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name },
  value,
  preemptionPolicy,
})
const priorityClasses = [classOf('low', 1), classOf('high', 10), classOf('polite', 10, 'Never')]
const binding = topologyBinding('fabric', { rack: 'rack', host: 'kubernetes.io/hostname' })

interface Running {
  readonly name: string
  readonly min: number
  /** Node of each pod. */
  readonly nodes: readonly string[]
  readonly gpus: number
  readonly baseGang?: string
}

function cluster(
  nodes: SnapshotObjects['nodes'],
  running: readonly Running[],
  wanted: { pods: number; gpus: number; priority?: string; required?: string },
): SnapshotObjects {
  const podGangs: PodGang[] = running.map(({ name, min }) =>
    podGang(name, [{ name: `${name}-c`, min }], { priorityClassName: 'low' }),
  )
  const pods: Pod[] = running.flatMap(({ name, nodes, gpus, baseGang }) =>
    nodes.map((at, i) =>
      memberPod(
        name,
        `${name}-c`,
        i,
        { [gpu]: String(gpus) },
        { node: at, ...(baseGang ? { baseGang } : {}) },
      ),
    ),
  )
  const options = { priorityClassName: wanted.priority ?? 'high', topology: 'fabric' }
  podGangs.push(
    podGang('big', [{ name: 'big-c', min: wanted.pods }], {
      ...options,
      ...(wanted.required ? { required: wanted.required } : {}),
    }),
  )
  for (let i = 0; i < wanted.pods; i++)
    pods.push(memberPod('big', 'big-c', i, { [gpu]: String(wanted.gpus) }))
  return { nodes, pods, podGangs, priorityClasses, topologyBindings: [binding] }
}

const decide = (objects: SnapshotObjects): Decision => plan(snapshotFrom(objects), policy, 0)
const victims = (decision: Decision) => decision.evictions.map(({ pod }) => pod).sort()
const gpuNode = (name: string, rack = 'r1') => node(name, { [gpu]: '8' }, { labels: { rack } })

test('surplus pods are evicted before whole gangs', () => {
  const objects = cluster([gpuNode('a'), gpuNode('b')], [{ name: 'x', min: 1, nodes: ['a', 'b'], gpus: 8 }], {
    pods: 1,
    gpus: 8,
  })
  const decision = decide(objects)
  deepEqual(victims(decision), ['x-c-1'])
  deepEqual(decision.evictions[0]?.preemptor, { namespace: 'default', name: 'big' })
  deepEqual(decision.bindings, [])
  equal(decision.gangs.find(({ name }) => name === 'big')?.explanation?.code, 'Terminating')
})

test('a gang that is preempted gets no further nodes, neither for its minimum nor for surplus', () => {
  // Room for small pods is left on b, but not for the pod of the preemptor.
  const nodes = [gpuNode('a'), node('b', { [gpu]: '4' }, { labels: { rack: 'r1' } })]
  for (const min of [1, 2]) {
    const objects = cluster(nodes, [{ name: 'x', min, nodes: ['a'], gpus: 4 }], { pods: 1, gpus: 8 })
    const decision = decide({ ...objects, pods: [...objects.pods, memberPod('x', 'x-c', 1, { [gpu]: '4' })] })
    deepEqual(victims(decision), ['x-c-0'])
    deepEqual(decision.bindings, [])
    const { verdict, explanation } = decision.gangs.find(({ name }) => name === 'x')!
    if (min === 1) equal(verdict, 'Scheduled')
    else equal(explanation?.message, 'PodGang big comes first (priority) and takes 8 nvidia.com/gpu, 1 pods')
  }
})

test('a scaled gang gets no nodes while its base gang is preempted', () => {
  const nodes = [gpuNode('a'), node('b', { [gpu]: '4' }, { labels: { rack: 'r1' } })]
  const objects = cluster(nodes, [{ name: 'x', min: 1, nodes: ['a'], gpus: 4 }], { pods: 1, gpus: 8 })
  const decision = decide({
    ...objects,
    pods: [...objects.pods, memberPod('scaled', 'scaled-c', 0, { [gpu]: '4' }, { baseGang: 'x' })],
    podGangs: [
      ...objects.podGangs,
      podGang('scaled', [{ name: 'scaled-c', min: 1 }], { priorityClassName: 'low' }),
    ],
  })
  deepEqual(decision.bindings, [])
  equal(decision.gangs.find(({ name }) => name === 'scaled')?.explanation?.code, 'BaseGangNotScheduled')
})

test('evicts only the surplus pods that are in the way, also if whole gangs are evicted', () => {
  const nodes = [gpuNode('a'), gpuNode('b'), gpuNode('c')]
  const running = [
    { name: 'x', min: 0, nodes: ['a', 'b'], gpus: 4 },
    { name: 'y', min: 2, nodes: ['a', 'c'], gpus: 4 },
  ]
  const objects = cluster(nodes, running, { pods: 1, gpus: 8 })
  const pinned = objects.pods.map(pod =>
    pod.metadata.name === 'big-c-0'
      ? { ...pod, spec: { ...pod.spec, nodeSelector: { 'kubernetes.io/hostname': 'a' } } }
      : pod,
  )
  deepEqual(victims(decide({ ...objects, pods: pinned })), ['x-c-0', 'y-c-0', 'y-c-1'])
})

test('during an update, a gang preempts for whichever of its pods can form the minimum', () => {
  const objects = cluster([gpuNode('a')], [{ name: 'x', min: 1, nodes: ['a'], gpus: 8 }], {
    pods: 1,
    gpus: 9,
  })
  const pods = [...objects.pods, memberPod('big', 'big-c', 1, { [gpu]: '8' })]
  deepEqual(victims(decide({ ...objects, pods })), ['x-c-0'])
})

test('the eviction of a base gang includes its scaled gangs', () => {
  const objects = cluster(
    [gpuNode('a'), gpuNode('b')],
    [
      { name: 'base', min: 1, nodes: ['a'], gpus: 8 },
      { name: 'scaled', min: 1, nodes: ['b'], gpus: 8, baseGang: 'base' },
    ],
    { pods: 2, gpus: 8 },
  )
  deepEqual(victims(decide(objects)), ['base-c-0', 'scaled-c-0'])
})

test('never evicts for a partial gain, for equal priority, or with preemptionPolicy Never', () => {
  const nodes = [gpuNode('a')]
  const running = [{ name: 'x', min: 1, nodes: ['a'], gpus: 8 }]
  deepEqual(decide(cluster(nodes, running, { pods: 2, gpus: 8 })).evictions, [])
  deepEqual(decide(cluster(nodes, running, { pods: 1, gpus: 8, priority: 'low' })).evictions, [])
  deepEqual(decide(cluster(nodes, running, { pods: 1, gpus: 8, priority: 'polite' })).evictions, [])
  equal(decide(cluster(nodes, running, { pods: 1, gpus: 8 })).evictions.length, 1)
})

test('chooses the cheapest domain, and evicts no unnecessary pods', () => {
  const nodes = [gpuNode('a', 'r1'), gpuNode('b', 'r1'), gpuNode('c', 'r2'), gpuNode('d', 'r2')]
  const running = [
    { name: 'w', min: 1, nodes: ['a'], gpus: 8 },
    { name: 'x', min: 1, nodes: ['b'], gpus: 8 },
    { name: 'y', min: 1, nodes: ['c'], gpus: 8 },
  ]
  deepEqual(victims(decide(cluster(nodes, running, { pods: 2, gpus: 8, required: 'rack' }))), ['y-c-0'])
})

test('while victims terminate, no more pods are evicted and their room stays reserved', () => {
  const nodes = [gpuNode('a')]
  const objects = cluster(nodes, [{ name: 'x', min: 1, nodes: ['a'], gpus: 4 }], { pods: 1, gpus: 8 })
  const leaving = objects.pods.map(pod =>
    pod.spec.nodeName
      ? { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
      : pod,
  )
  const late = podGang('late', [{ name: 'late-c', min: 1 }], { priorityClassName: 'low' })
  const decision = decide({
    ...objects,
    pods: [...leaving, memberPod('late', 'late-c', 0, { [gpu]: '4' })],
    podGangs: [...objects.podGangs, late],
  })
  deepEqual(decision.evictions, [])
  deepEqual(decision.bindings, [])
  equal(decision.gangs.find(({ name }) => name === 'big')?.explanation?.code, 'Terminating')
})

test('victims stay within their PodDisruptionBudgets, and a gang that cannot be evicted as a whole stays', () => {
  const nodes = [gpuNode('a'), gpuNode('b'), gpuNode('c'), gpuNode('d')]
  const running = [
    { name: 'x', min: 2, nodes: ['a', 'b'], gpus: 8 },
    { name: 'y', min: 2, nodes: ['c', 'd'], gpus: 8 },
  ]
  const budget = (name: string, gang: string, disruptionsAllowed: number) => ({
    metadata: { name, namespace: 'default' },
    spec: { selector: { matchLabels: { 'grove.io/podgang': gang } } },
    status: { disruptionsAllowed },
  })
  const evicted = (pods: number, ...podDisruptionBudgets: ReturnType<typeof budget>[]) =>
    victims(decide({ ...cluster(nodes, running, { pods, gpus: 8 }), podDisruptionBudgets }))
  deepEqual(evicted(2), ['x-c-0', 'x-c-1'])
  deepEqual(evicted(2, budget('x', 'x', 1)), ['y-c-0', 'y-c-1'])
  deepEqual(evicted(2, budget('x', 'x', 2)), ['x-c-0', 'x-c-1'])
  // The API server evicts no pod that two budgets select.
  deepEqual(evicted(2, budget('x', 'x', 2), budget('x2', 'x', 2)), ['y-c-0', 'y-c-1'])
  deepEqual(evicted(2, budget('x', 'x', 1), budget('y', 'y', 0)), [])
  deepEqual(evicted(4, budget('x', 'x', 1)), [], 'no partial gain')
})

const instances = fc
  .record({
    nodes: fc.array(fc.record({ rack: fc.constantFrom('r1', 'r2'), gpus: fc.integer({ min: 1, max: 8 }) }), {
      minLength: 1,
      maxLength: 4,
    }),
    running: fc.array(
      fc.record({
        at: fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 2 }),
        gpus: fc.integer({ min: 1, max: 4 }),
        min: fc.integer({ min: 1, max: 2 }),
      }),
      { maxLength: 4 },
    ),
    wanted: fc.record({
      pods: fc.integer({ min: 1, max: 3 }),
      gpus: fc.integer({ min: 1, max: 8 }),
      required: fc.constantFrom(undefined, 'rack'),
    }),
  })
  .map(({ nodes, running, wanted }) =>
    cluster(
      nodes.map(({ rack, gpus }, i) => node(`n${i}`, { [gpu]: String(gpus) }, { labels: { rack } })),
      running.map(({ at, gpus, min }, i) => ({
        name: `x${i}`,
        min: Math.min(min, at.length),
        nodes: at.map(one => `n${one % nodes.length}`),
        gpus,
      })),
      { pods: wanted.pods, gpus: wanted.gpus, ...(wanted.required ? { required: wanted.required } : {}) },
    ),
  )

test('evicts if and only if this makes the whole minimum fit, and every victim is necessary', () => {
  const tally = { preempted: 0, hopeless: 0 }
  fc.assert(
    fc.property(instances, objects => {
      const snapshot = snapshotFrom(objects)
      const { gangs, evictions } = plan(snapshot, policy, 0)
      const at = snapshot.gangs.findIndex(({ name }) => name === 'big')
      const big = snapshot.gangs[at]!
      if (gangs[at]!.verdict === 'Scheduled') return deepEqual(evictions, [])
      const fitsWithout = (gone: ReadonlySet<string>) =>
        fitsTogether({ ...snapshot, boundPods: snapshot.boundPods.filter(({ name }) => !gone.has(name)) }, [
          big,
        ])
      const all = new Set(snapshot.boundPods.map(({ name }) => name))
      const gone = new Set(evictions.map(({ pod }) => pod))
      equal(evictions.length > 0, fitsWithout(all))
      tally[evictions.length > 0 ? 'preempted' : 'hopeless']++
      if (evictions.length === 0) return
      ok(fitsWithout(gone))
      // A gang that loses pods of its minimum loses all of them.
      for (const { groups } of snapshot.gangs)
        for (const { placed, minReplicas } of groups) {
          const left = placed.filter(({ name }) => !gone.has(name)).length
          ok(left === 0 || left >= Math.min(minReplicas, placed.length), 'a gang is left below its minimum')
        }
      for (const owner of new Set(evictions.map(({ gang }) => gang))) {
        const stays = new Set([...gone].filter(name => !name.startsWith(`${owner}-`)))
        ok(!fitsWithout(stays), `${owner} was evicted without necessity`)
      }
    }),
    propertyOptions(1000),
  )
  ok(tally.preempted > 50 && tally.hopeless > 20, JSON.stringify(tally))
})
