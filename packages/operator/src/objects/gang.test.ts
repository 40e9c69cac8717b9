// SPDX-License-Identifier: Apache-2.0

// Tests the PodGang object, and the objects that schedulers read.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CliqueTemplate, PodGang, PodGangTopologyConstraint, TopologyConstraint } from '@grove/api'
import { groupReplicasFromTemplate, podGangs } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { podGang } from './gang.ts'

const zone = 'topology.kubernetes.io/zone'
const rack = 'example.com/rack'
const host = 'kubernetes.io/hostname'
const levels = [
  { domain: 'zone', key: zone },
  { domain: 'rack', key: rack },
  { domain: 'host', key: host },
]

/** A set with every kind of part: a router, groups with and without a constraint, constraints at every level. */
function llm(): StoredSet {
  const at = (pack: TopologyConstraint['pack'], name?: string): TopologyConstraint => ({
    ...(name && { topologyName: name }),
    pack,
  })
  const set = sampleSet({
    name: 'llm',
    replicas: 2,
    cliques: [
      clique('router', { replicas: 2, minAvailable: 1 }),
      clique('pl'),
      {
        ...clique('pw', { replicas: 4, minAvailable: 3 }),
        topologyConstraint: at({ preferred: 'host' }),
      } as CliqueTemplate,
      clique('dec', { replicas: 2 }),
    ],
    groups: [
      { ...group('prefill', ['pl', 'pw'], 3, 1), topologyConstraint: at({ required: 'rack' }) },
      group('decode', ['dec'], 3, 2),
    ],
    template: {
      priorityClassName: 'inference-high',
      topologyConstraint: at({ required: 'zone' }, 'fabric'),
    },
  })
  set.metadata.labels = { team: 'search', 'kai.scheduler/queue': 'gpu-a', 'grove.io/mine': 'not copied' }
  set.metadata.annotations = { 'scheduling.grove.io/volcano-queue': 'research', 'grove.io/own': 'not copied' }
  return set
}

const options = { levels, schedulerName: 'kai-scheduler', podsOf: () => [] }
const gangsOf = (set: StoredSet, context = {}) =>
  new Map(
    podGangs(set, groupReplicasFromTemplate).map(instance => [
      instance.name,
      podGang(instance, { set, ...options, ...context }),
    ]),
  )
const packed = (packConstraint: PodGangTopologyConstraint['packConstraint']) => ({ packConstraint })

describe('gangs of a set', () => {
  const gangs = gangsOf(llm())

  test('are ordered: base gangs first, then scaled gangs, with indexes from minAvailable on', () => {
    assert.deepEqual(
      [...gangs.keys()],
      [
        'llm-0',
        'llm-1',
        'llm-0-prefill-0',
        'llm-0-prefill-1',
        'llm-0-decode-0',
        'llm-1-prefill-0',
        'llm-1-prefill-1',
        'llm-1-decode-0',
      ],
    )
  })

  test('a base gang holds every standalone clique and minAvailable replicas of every group, with the constraints of each', () => {
    assert.deepEqual(gangs.get('llm-0')!.spec, {
      priorityClassName: 'inference-high',
      topologyConstraint: packed({ required: zone }),
      topologyConstraintGroupConfigs: [
        {
          name: 'llm-0-prefill-0',
          podGroupNames: ['llm-0-prefill-0-pl', 'llm-0-prefill-0-pw'],
          topologyConstraint: packed({ required: rack }),
        },
      ],
      podgroups: [
        { name: 'llm-0-router', minReplicas: 1, podReferences: [] },
        { name: 'llm-0-prefill-0-pl', minReplicas: 1, podReferences: [] },
        {
          name: 'llm-0-prefill-0-pw',
          minReplicas: 3,
          podReferences: [],
          topologyConstraint: packed({ preferred: host }),
        },
        { name: 'llm-0-decode-0-dec', minReplicas: 2, podReferences: [] },
        { name: 'llm-0-decode-1-dec', minReplicas: 2, podReferences: [] },
      ],
    })
  })

  test('a scaled gang has the constraint of its group, or that of the set if the group has none', () => {
    const { topologyConstraint, topologyConstraintGroupConfigs, podgroups } =
      gangs.get('llm-0-prefill-0')!.spec
    assert.deepEqual(topologyConstraint, packed({ required: rack }))
    assert.equal(topologyConstraintGroupConfigs, undefined)
    assert.deepEqual(
      podgroups.map(({ name }) => name),
      ['llm-0-prefill-1-pl', 'llm-0-prefill-1-pw'],
    )
    assert.deepEqual(gangs.get('llm-0-decode-0')!.spec.topologyConstraint, packed({ required: zone }))
  })

  test('carry the labels and annotations of the set that are not reserved, and those of the operator', () => {
    const { labels, annotations, ownerReferences } = gangs.get('llm-0')!.metadata
    assert.deepEqual(labels, {
      team: 'search',
      'kai.scheduler/queue': 'gpu-a',
      'app.kubernetes.io/managed-by': 'grove-operator',
      'app.kubernetes.io/part-of': 'llm',
      'app.kubernetes.io/component': 'podgang',
      'grove.io/scheduler-name': 'kai-scheduler',
    })
    assert.deepEqual(annotations, {
      'scheduling.grove.io/volcano-queue': 'research',
      'grove.io/topology-name': 'fabric',
    })
    assert.deepEqual(ownerReferences, [
      {
        apiVersion: 'grove.io/v1alpha1',
        kind: 'PodCliqueSet',
        name: 'llm',
        uid: 'set-uid',
        controller: true,
        blockOwnerDeletion: true,
      },
    ])
  })

  test("follow changes of the set's labels and annotations, and keep those of the operator", () => {
    const existing = {
      metadata: {
        labels: { 'grove.io/kept': 'yes', stray: 'yes', team: 'former' },
        annotations: { 'grove.io/topology-name': 'former', 'kai.scheduler/skip-podgrouper': 'true' },
      },
    } as unknown as PodGang
    const set = llm()
    set.metadata.labels = {}
    const { labels, annotations } = gangsOf(set, { existing, levels: [] }).get('llm-0')!.metadata
    assert.equal(labels?.['grove.io/kept'], 'yes')
    assert.equal(labels?.stray, undefined)
    assert.equal(labels?.team, undefined)
    assert.deepEqual(
      annotations,
      { 'scheduling.grove.io/volcano-queue': 'research' },
      'no level, no topology',
    )
  })
})

describe('constraints of a gang', () => {
  const rows: [string, TopologyConstraint['pack'], PodGangTopologyConstraint['packConstraint']][] = [
    ['a required domain', { required: 'rack' }, { required: rack }],
    ['only a preferred domain', { preferred: 'rack' }, { preferred: rack }],
    [
      'a required and a preferred domain',
      { required: 'zone', preferred: 'host' },
      { required: zone, preferred: host },
    ],
    [
      'the same domain required and preferred',
      { required: 'rack', preferred: 'rack' },
      { required: rack, preferred: rack },
    ],
    [
      'a preference that is broader than the required domain is omitted',
      { required: 'rack', preferred: 'zone' },
      { required: rack },
    ],
    ['a domain that the topology does not have', { required: 'block' }, undefined],
    [
      'two domains, one of which the topology does not have',
      { required: 'block', preferred: 'host' },
      { preferred: host },
    ],
  ]
  for (const [what, pack, keys] of rows)
    test(what, () => {
      const set = sampleSet({
        cliques: [clique('a')],
        groups: [],
        template: { topologyConstraint: { topologyName: 'fabric', pack } },
      })
      const gang = gangsOf(set).get('w-0')!
      assert.deepEqual(gang.spec.topologyConstraint?.packConstraint, keys)
      assert.equal(gang.metadata.annotations?.['grove.io/topology-name'], keys && 'fabric')
    })
})
