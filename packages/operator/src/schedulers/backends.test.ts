// SPDX-License-Identifier: Apache-2.0

// Tests the translation of gangs into the objects of each scheduler.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { label, type PodGang, supportedSchedulers } from '@grove/api'
import { basePodGang } from '../layout/layout.ts'
import type { StoredGang, StoredSet } from '../layout/stored.ts'
import { SetTable } from '../memory/set-table.ts'
import { podGang } from '../objects/gang.ts'
import { clique, group, type SetShape, sampleSet } from '../testing/sample-set.ts'
import { GangMappingError } from './backend.ts'
import { kaiScheduler } from './kai.ts'
import { kubernetesScheduler } from './kubernetes.ts'
import { schedulerBackends, schedulerOf } from './registry.ts'
import { volcanoScheduler } from './volcano.ts'

const levels = [
  { domain: 'block', key: 'example.com/block' },
  { domain: 'rack', key: 'example.com/rack' },
]

function tagged(labels: Record<string, string>, annotations: Record<string, string>, shape: SetShape) {
  const set = sampleSet(shape)
  set.metadata.labels = labels
  set.metadata.annotations = annotations
  return set
}

function gangOf(set: StoredSet): StoredGang {
  const gang = podGang(basePodGang(set, 0), { set, levels, schedulerName: 'any', podsOf: () => [] })
  return { ...gang, metadata: { ...gang.metadata, uid: 'gang-uid' } } as StoredGang
}

type Spec = Record<string, unknown>
const specOf = (object: { spec?: unknown } | undefined) => object?.spec as Spec

describe('a PodGroup of KAI', () => {
  const required = (domain: string) => ({ topologyName: 'fabric', pack: { required: domain } })
  const constrained: SetShape = {
    cliques: [clique('router', { replicas: 2, minAvailable: 1 }), clique('work', { replicas: 3 })],
    groups: [{ ...group('eng', ['work'], 2, 2), topologyConstraint: required('rack') }],
    template: { priorityClassName: 'high', topologyConstraint: required('block') },
  }
  const queued = (shape: SetShape) => tagged({ 'kai.scheduler/queue': 'gpu-a' }, {}, shape)
  const objectFor = (set: StoredSet, topologyReference?: string) =>
    kaiScheduler.objectsFor(gangOf(set), {
      set,
      instance: basePodGang(set, 0),
      ...(topologyReference && { topologyReference }),
    })[0]!

  test('has a parent for every constrained group replica and a leaf for every clique', () => {
    const at = (key: string) => ({ topology: 'fabric', requiredTopologyLevel: `example.com/${key}` })
    assert.deepEqual(objectFor(queued(constrained)).spec, {
      minMember: 7,
      queue: 'gpu-a',
      priorityClassName: 'high',
      topologyConstraint: at('block'),
      subGroups: [
        { name: 'w-0-eng-0', minSubGroup: 1, topologyConstraint: at('rack') },
        { name: 'w-0-eng-1', minSubGroup: 1, topologyConstraint: at('rack') },
        { name: 'w-0-router', minMember: 1 },
        { name: 'w-0-eng-0-work', minMember: 3, parent: 'w-0-eng-0' },
        { name: 'w-0-eng-1-work', minMember: 3, parent: 'w-0-eng-1' },
      ],
    })
  })

  test("is owned by its gang, carries its labels and annotations, and is exempt from KAI's pod grouper", () => {
    const { metadata } = objectFor(queued(constrained))
    assert.deepEqual(metadata.ownerReferences?.[0]?.uid, 'gang-uid')
    assert.equal(metadata.labels?.['app.kubernetes.io/part-of'], 'w')
    assert.deepEqual(metadata.annotations, {
      'grove.io/topology-name': 'fabric',
      'kai.scheduler/skip-podgrouper': 'true',
    })
  })

  test('refers to a topology of another owner by its name in KAI, not by its binding', () => {
    const spec = specOf(objectFor(queued(constrained), 'site-topology'))
    assert.equal((spec.topologyConstraint as Spec).topology, 'site-topology')
    for (const { topologyConstraint } of (spec.subGroups as { topologyConstraint?: Spec }[]).slice(0, 2))
      assert.equal(topologyConstraint!.topology, 'site-topology')
  })

  test('cannot be built for constraints without a topology', () => {
    const set = queued(constrained)
    const gang = gangOf(set) as PodGang
    gang.metadata.annotations = {}
    assert.throws(
      () => kaiScheduler.objectsFor(gang as StoredGang, { set, instance: basePodGang(set, 0) }),
      GangMappingError,
    )
    gang.metadata.annotations = { 'kai.scheduler/topology': 'theirs' }
    const [object] = kaiScheduler.objectsFor(gang as StoredGang, { set, instance: basePodGang(set, 0) })
    assert.equal((specOf(object).topologyConstraint as Spec).topology, 'theirs')
  })

  const withQueues = (...queues: (string | undefined)[]): SetShape => ({
    cliques: queues.map((queue, at) => ({
      ...clique(`c${at}`),
      ...(queue && { annotations: { 'kai.scheduler/queue': queue } }),
    })),
  })
  const rows: [string, StoredSet, string | RegExp][] = [
    ['of the set', queued(withQueues(undefined)), 'gpu-a'],
    ['of the set, which a clique repeats', queued(withQueues('gpu-a')), 'gpu-a'],
    [
      'of the set, which a clique contradicts',
      queued(withQueues('gpu-b')),
      /"gpu-a" but .* "c0" resolves to "gpu-b"/,
    ],
    [
      'in a label, which takes precedence over an annotation',
      tagged({ 'kai.scheduler/queue': 'l' }, { 'kai.scheduler/queue': 'a' }, withQueues(undefined)),
      'l',
    ],
    ['in an annotation', tagged({}, { 'kai.scheduler/queue': 'a' }, withQueues(undefined)), 'a'],
    ['that all cliques with a queue name', tagged({}, {}, withQueues('q', undefined, 'q')), 'q'],
    ['that is invalid', tagged({}, {}, withQueues('b', 'a')), /conflicting KAI queues .*\[a b\]/],
    ['that is not configured', tagged({}, {}, withQueues(undefined)), /no KAI queue is configured/],
  ]
  for (const [what, set, queue] of rows)
    test(`has the queue ${what}`, () => {
      if (typeof queue === 'string') assert.equal(specOf(objectFor(set)).queue, queue)
      else assert.throws(() => objectFor(set), queue)
    })

  test('keeps its queue once it has one', () => {
    assert.deepEqual(kaiScheduler.keepsInSpec, ['queue'])
  })
})

describe('a PodGroup of Volcano', () => {
  const queue = 'scheduling.grove.io/volcano-queue'
  const objectFor = (set: StoredSet) =>
    volcanoScheduler.objectsFor(gangOf(set), { set, instance: basePodGang(set, 0) })[0]!
  const shape: SetShape = {
    cliques: [clique('a', { replicas: 3, minAvailable: 2 }), clique('b')],
    template: { priorityClassName: 'high' },
  }

  test('has a policy for every clique, and the sum of their minima', () => {
    const policy = (name: string, subGroupSize: number) => ({
      name,
      labelSelector: { matchLabels: { [label.podClique]: name } },
      matchLabelKeys: [label.podClique],
      subGroupSize,
      minSubGroups: 1,
    })
    const object = objectFor(tagged({ team: 'search' }, { [queue]: ' research ', other: 'x' }, shape))
    assert.deepEqual(object.spec, {
      minMember: 3,
      queue: 'research',
      priorityClassName: 'high',
      subGroupPolicy: [policy('w-0-a', 2), policy('w-0-b', 1)],
    })
    assert.equal((object.metadata.labels as Spec).team, 'search')
    assert.equal(object.metadata.annotations, undefined)
  })

  test('uses the queue that only cliques name, and the default if none does', () => {
    const ofClique = { ...clique('b'), annotations: { [queue]: 'batch' } }
    const named = tagged({}, {}, { cliques: [clique('a'), ofClique] })
    assert.equal(specOf(objectFor(named)).queue, 'batch')
    assert.equal(specOf(objectFor(tagged({}, { [queue]: ' ' }, shape))).queue, 'default')
  })
})

describe('native gangs of Kubernetes', () => {
  const required = (domain: string) => ({ topologyName: 'fabric', pack: { required: domain } })
  const shape: SetShape = {
    cliques: [clique('router', { replicas: 2, minAvailable: 1 }), clique('work', { replicas: 3 })],
    groups: [{ ...group('eng', ['work'], 2, 2), topologyConstraint: required('rack') }],
    template: { priorityClassName: 'high', topologyConstraint: required('block') },
  }
  const at = (level: string) => ({ schedulingConstraints: { topology: [{ key: `example.com/${level}` }] } })
  const objects = (of: SetShape) => {
    const set = sampleSet(of)
    return kubernetesScheduler.objectsFor(gangOf(set), { set, instance: basePodGang(set, 0) })
  }

  test('are a Workload, a tree of CompositePodGroups, and a PodGroup for every clique', () => {
    assert.deepEqual(
      objects(shape).map(({ kind, metadata }) => `${kind} ${metadata.name}`),
      [
        'Workload w-0',
        'CompositePodGroup w-0',
        'CompositePodGroup w-0.w-0-eng-0',
        'CompositePodGroup w-0.w-0-eng-1',
        'PodGroup w-0-router',
        'PodGroup w-0-eng-0-work',
        'PodGroup w-0-eng-1-work',
      ],
    )
    const [, gang, replica, , , worker] = objects(shape)
    assert.deepEqual(gang?.spec, {
      workloadRef: { workloadName: 'w-0', templateName: 'gang' },
      schedulingPolicy: { gang: { minGroupCount: 3 } },
      ...at('block'),
      priorityClassName: 'high',
    })
    assert.deepEqual(replica?.spec, {
      parentCompositePodGroupName: 'w-0',
      workloadRef: { workloadName: 'w-0', templateName: 'g-work' },
      schedulingPolicy: { gang: { minGroupCount: 1 } },
      ...at('rack'),
      priorityClassName: 'high',
    })
    assert.deepEqual(worker?.spec, {
      parentCompositePodGroupName: 'w-0.w-0-eng-0',
      workloadRef: { workloadName: 'w-0', templateName: 'c-work' },
      schedulingPolicy: { gang: { minCount: 3 } },
      priorityClassName: 'high',
    })
  })

  test('share one template between the replicas of a scaling group', () => {
    const [workload] = objects(shape)
    assert.deepEqual(workload?.spec, {
      compositePodGroupTemplates: [
        {
          name: 'gang',
          schedulingPolicy: { gang: { minGroupCount: 3 } },
          ...at('block'),
          podGroupTemplates: [{ name: 'c-router', schedulingPolicy: { gang: { minCount: 1 } } }],
          compositePodGroupTemplates: [
            {
              name: 'g-work',
              schedulingPolicy: { gang: { minGroupCount: 1 } },
              ...at('rack'),
              podGroupTemplates: [{ name: 'c-work', schedulingPolicy: { gang: { minCount: 3 } } }],
            },
          ],
        },
      ],
    })
  })

  test('have a template for every clique, also if the name of one clique ends the name of the PodClique of another', () => {
    const found = objects({
      cliques: [clique('b', { replicas: 2 }), clique('0-b')],
      groups: [group('eng', ['b'], 1, 1)],
    })
    const templates = found.flatMap(({ kind, metadata, spec }) =>
      kind === 'PodGroup' ? [[metadata.name, ((spec as Spec).workloadRef as Spec).templateName]] : [],
    )
    assert.deepEqual(templates, [
      ['w-0-0-b', 'c-0-b'],
      ['w-0-eng-0-b', 'c-b'],
    ])
  })

  test('cannot express a preferred level', () => {
    const preferring = { topologyName: 'fabric', pack: { preferred: 'rack' } }
    assert.throws(() => objects({ cliques: [clique('a')], template: { topologyConstraint: preferring } }), {
      message: /prefers topology level example.com\/rack, .* supports required levels only/,
    })
  })
})

describe('the scheduler of a set', () => {
  const set = (...names: (string | undefined)[]) =>
    sampleSet({
      cliques: names.map((schedulerName, at) => {
        const made = clique(`c${at}`)
        const podSpec = { ...made.spec.podSpec, ...(schedulerName && { schedulerName }) }
        return { ...made, spec: { ...made.spec, podSpec } }
      }),
    })
  const gangs =
    (...names: (string | undefined)[]) =>
    () =>
      names.map(
        name => ({ metadata: { labels: { ...(name && { [label.schedulerName]: name }) } } }) as PodGang,
      )
  const enabled = ['default-scheduler', 'kai-scheduler', 'volcano']
  const backends = (byDefault = 'kai-scheduler') => schedulerBackends(enabled, byDefault)

  test('is the one that a clique names, whatever the labels of its gangs', () => {
    assert.equal(backends().nameFor(set(undefined, 'volcano'), gangs('default-scheduler')), 'volcano')
  })

  test('is otherwise the default, even if the configuration changes it later', () => {
    assert.equal(backends().nameFor(set(undefined), gangs()), 'kai-scheduler')
    assert.equal(
      backends().nameFor(set(undefined), gangs(undefined, 'default-scheduler')),
      'default-scheduler',
    )
  })

  test('stays the same when the label of a gang is edited', () => {
    const schedulers = new SetTable<string>(() => true)
    const scheduler = (existing: () => readonly PodGang[]) =>
      schedulerOf(
        { backends: backends(), caches: { gangs: { byIndex: existing } }, memory: { schedulers } },
        set(undefined),
      )
    assert.equal(scheduler(gangs()), 'kai-scheduler')
    assert.equal(scheduler(gangs('volcano')), 'kai-scheduler')
    schedulers.dropSet('set-uid')
    assert.equal(scheduler(gangs('volcano')), 'volcano')
  })

  test('is never one that is not enabled', () => {
    assert.equal(backends().nameFor(set(undefined), gangs('lpx-scheduler')), 'kai-scheduler')
    assert.equal(backends().find('lpx-scheduler'), undefined)
    assert.equal(backends().find('')!.name, 'kai-scheduler')
  })
})

test('every scheduler that the configuration accepts has a backend of that name, and no other does', () => {
  const backends = schedulerBackends(supportedSchedulers, 'default-scheduler')
  for (const name of supportedSchedulers) {
    assert.equal(backends.find(name)?.name, name)
    assert.equal(schedulerBackends(supportedSchedulers, name).default.name, name)
  }
  for (const name of ['kube', 'constructor', '']) {
    const expected = { message: `there is no scheduler backend "${name}"` }
    assert.throws(() => schedulerBackends([name], 'default-scheduler'), expected)
    assert.throws(() => schedulerBackends(['default-scheduler'], name), expected)
  }
})

describe('the cause for which a scheduler cannot place a gang', () => {
  const group = (status: unknown) => ({ apiVersion: 'v1', kind: 'PodGroup', metadata: { name: 'g' }, status })
  const condition = (type: string, status: string, message: unknown) => ({ type, status, message })

  test('is the newest true condition of its PodGroup', () => {
    const conditions = [
      condition('Unschedulable', 'True', 'older'),
      condition('Unschedulable', 'True', '3/3 tasks in gang unschedulable'),
      condition('Scheduled', 'True', 'other'),
    ]
    assert.equal(
      volcanoScheduler.unschedulableMessage?.(group({ conditions })),
      '3/3 tasks in gang unschedulable',
    )
    const schedulingConditions = [condition('UnschedulableOnNodePool', 'True', 'queue is over its limit')]
    assert.equal(
      kaiScheduler.unschedulableMessage?.(group({ schedulingConditions })),
      'queue is over its limit',
    )
  })

  test('is unknown where the status has another shape', () => {
    const shapes = [
      undefined,
      {},
      { conditions: 'none' },
      { conditions: [null, condition('Unschedulable', 'False', 'm'), condition('Unschedulable', 'True', 7)] },
    ]
    for (const status of shapes)
      assert.equal(volcanoScheduler.unschedulableMessage?.(group(status)), undefined)
  })
})
