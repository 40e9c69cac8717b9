// SPDX-License-Identifier: Apache-2.0

// Deletion relies on owner references alone: the garbage collector never deletes an object without one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  annotation,
  type CliqueTemplate,
  type ClusterTopologyBinding,
  defaultConfiguration,
  type OwnerReference,
  type ResourceClaimTemplate,
} from '@grove/api'
import type { StoredSet } from './layout/stored.ts'
import { type RenderContext, type RenderedObject, render, renderTopologies } from './render.ts'
import { revisionObject } from './revision/history.ts'
import { schedulerBackends } from './schedulers/registry.ts'
import { clique, group, sampleSet } from './testing/sample-set.ts'

const sharing = (...names: string[]) => ({
  resourceSharing: names.flatMap(name => [
    { name, scope: 'AllReplicas' as const },
    { name: `${name}-each`, scope: 'PerReplica' as const },
  ]),
})
const templateSpec = {
  spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu' } }] } },
}
const autoScalingConfig = { minReplicas: 1, maxReplicas: 5 }

/** Two replicas with every kind of object that a set can have. */
function richSet(): StoredSet {
  const withGpus = (template: CliqueTemplate): CliqueTemplate => ({
    ...template,
    spec: {
      ...template.spec,
      podSpec: {
        containers: [{ name: 'main', image: 'i', resources: { limits: { 'nvidia.com/gpu': '1' } } }],
      },
    },
  })
  const web = withGpus(clique('web', { replicas: 2 }))
  const set = sampleSet({
    replicas: 2,
    startup: 'CliqueStartupTypeExplicit',
    cliques: [
      { ...web, ...sharing('own'), spec: { ...web.spec, autoScalingConfig } },
      { ...withGpus(clique('lead')), ...sharing('own') },
      withGpus(clique('work', { startsAfter: ['lead'] })),
    ],
    groups: [{ ...group('g', ['lead', 'work'], 3, 1), ...sharing('team'), scaleConfig: autoScalingConfig }],
    template: {
      ...sharing('wide'),
      topologyConstraint: { topologyName: 'fabric', packDomain: 'rack' },
      resourceClaimTemplates: ['own', 'team', 'wide']
        .flatMap(name => [name, `${name}-each`])
        .map(name => ({ name, templateSpec })),
    } as never,
  })
  const annotations = { [annotation.mnnvlGroup]: 'nvlink', [annotation.kaiQueue]: 'gpus' }
  return { ...set, metadata: { ...set.metadata, annotations } }
}

const binding = {
  apiVersion: 'grove.io/v1alpha1',
  kind: 'ClusterTopologyBinding',
  metadata: { name: 'fabric', uid: 'binding-uid' },
  spec: { levels: [{ domain: 'rack', key: 'example.com/rack' }] },
} as ClusterTopologyBinding

function contextFor(scheduler: string): RenderContext {
  const configuration = defaultConfiguration()
  return {
    configuration: { ...configuration, network: { ...configuration.network, autoMNNVLEnabled: true } },
    backends: schedulerBackends([scheduler], scheduler),
    waiterImage: 'waiter:1',
    topologyBindings: [binding],
    claimTemplates: [] as ResourceClaimTemplate[],
    podTemplateHashes: () => ({}),
  }
}

const common = [
  'ComputeDomain',
  'HorizontalPodAutoscaler',
  'Pod',
  'PodClique',
  'PodCliqueScalingGroup',
  'PodGang',
  'ResourceClaim',
  'Role',
  'RoleBinding',
  'Secret',
  'Service',
  'ServiceAccount',
]

for (const [scheduler, more] of [
  ['default-scheduler', []],
  ['kai-scheduler', ['PodGroup', 'Topology']],
  ['volcano', ['PodGroup']],
] as const)
  test(`every object of a set has exactly one controller, which is an object of the same set: ${scheduler}`, () => {
    const set = richSet()
    const context = contextFor(scheduler)
    const objects = [...render(set, context), ...renderTopologies(context)] as RenderedObject[]
    assert.deepEqual([...new Set(objects.map(({ kind }) => kind))].sort(), [...common, ...more].sort())
    const known = new Set([set, binding, ...objects].map(({ kind, metadata }) => `${kind} ${metadata.name}`))
    for (const { kind, metadata } of objects) {
      const { ownerReferences = [] } = metadata as { ownerReferences?: OwnerReference[] }
      const id = `${kind} ${metadata.name}`
      assert.equal(ownerReferences.filter(({ controller }) => controller).length, 1, id)
      const [owner] = ownerReferences
      assert.ok(known.has(`${owner!.kind} ${owner!.name}`), `${id}: ${owner!.kind} ${owner!.name}`)
      assert.equal(owner!.blockOwnerDeletion, true, id)
    }
  })

test('a recorded revision has the set as its only controller', () => {
  const set = richSet()
  const { metadata } = revisionObject(set, 1, 'w-1') as unknown as {
    metadata: { ownerReferences: OwnerReference[] }
  }
  assert.deepEqual(
    metadata.ownerReferences.map(({ kind, uid, controller }) => [kind, uid, controller]),
    [['PodCliqueSet', set.metadata.uid, true]],
  )
})
