// SPDX-License-Identifier: Apache-2.0

// Every patch and every delete of the operator names the UID of its object, or is a collection request whose matches
// the operator controls. Every simulation runs this check; this test ensures that it has seen every kind of object.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { annotation, type CliqueTemplate, finalizer, label } from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import type { StoredSet } from '../layout/stored.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import type { Write } from '../testing/simulation/api.ts'
import { Simulation, setName } from '../testing/simulation/simulation.ts'

const untyped = (resource: unknown) => resource as Resource<KubeObject>
const sharing = (name: string) => ({ resourceSharing: [{ name, scope: 'PerReplica' as const }] })
const autoScalingConfig = { minReplicas: 1, maxReplicas: 5 }

/**
 * A set with every kind of child: autoscalers, claims of all three levels, NVLink domains, PodGroups of a scheduler.
 */
function richSet(image: string): StoredSet {
  const withGpus = ({ spec, ...rest }: CliqueTemplate, more: object): CliqueTemplate => ({
    ...rest,
    ...more,
    spec: {
      ...spec,
      podSpec: { containers: [{ name: 'main', image, resources: { limits: { 'nvidia.com/gpu': '1' } } }] },
    },
  })
  const web = clique('web', { replicas: 2, minAvailable: 1 })
  const set = sampleSet({
    name: setName,
    replicas: 2,
    cliques: [
      withGpus({ ...web, spec: { ...web.spec, autoScalingConfig } }, sharing('own')),
      withGpus(clique('work'), {}),
    ],
    groups: [{ ...group('g', ['work'], 2, 1), ...sharing('team') }],
    template: {
      ...sharing('each'),
      resourceClaimTemplates: ['own', 'team', 'each'].map(name => ({
        name,
        templateSpec: {
          spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu' } }] } },
        },
      })),
    },
  })
  const annotations = { [annotation.mnnvlGroup]: 'fabric', [annotation.kaiQueue]: 'gpus' }
  return { ...set, metadata: { ...set.metadata, annotations } }
}

const children: readonly Resource<KubeObject>[] = [
  resources.podCliques,
  resources.podCliqueScalingGroups,
  resources.podGangs,
  resources.services,
  resources.autoscalers,
  resources.serviceAccounts,
  resources.roles,
  resources.roleBindings,
  resources.computeDomains,
  resources.resourceClaims,
  resources.kaiPodGroups,
].map(untyped)

async function liveThrough(): Promise<{ simulation: Simulation; writes: Write[] }> {
  const simulation = new Simulation({
    seed: 1,
    set: richSet('registry.example/main:1'),
    nodes: 2,
    places: 100,
    observer: { reconcileBegins: () => {}, patches: () => {}, deletes: () => {}, inspects: () => {} },
    scheduler: 'kai-scheduler',
    servesOptionalKinds: true,
  })
  const { api, clock, nodes } = simulation
  const writes: Write[] = []
  const { before, after } = api.hooks
  api.hooks = {
    after,
    before: async write => {
      await before(write)
      writes.push(write)
    },
  }
  const rounds = async (count: number) => {
    for (let round = 0; round < count; round++) {
      await simulation.reconcileAll()
      while (nodes.progress());
      await clock.advance(2_000)
    }
  }
  const scale = (spec: object) => api.modify(resources.podCliqueSets, setName, { spec })
  await rounds(10)
  // The operator reverts edits of other clients, which requires a patch for every kind.
  for (const resource of children)
    for (const { metadata } of api.list(resource))
      api.modify(resource, metadata.name, damage(metadata.labels))
  await rounds(4)
  api.modify(resources.podCliqueScalingGroups, 'w-0-g', { spec: { replicas: 1 } })
  await rounds(4)
  scale({ template: richSet('registry.example/main:2').spec.template })
  await rounds(20)
  scale({ replicas: 1 })
  await rounds(4)
  scale(richSet('registry.example/main:1').spec)
  await rounds(20)
  const metadata = { deletionTimestamp: new Date(clock.now()).toISOString() }
  api.collectsGarbage = false
  api.modify(resources.podCliqueSets, setName, { metadata })
  await rounds(2)
  return { simulation, writes }
}

/** Labels of the template or of the kind, other than those by which the operator finds its objects. */
function damage(labels: Stored<KubeObject>['metadata']['labels']): object {
  const { [label.component]: component } = labels ?? {}
  return { metadata: { labels: component === undefined ? {} : { [label.component]: 'edited' } } }
}

test('every patch carries the UID of its object, and every delete has a UID precondition or matches only own objects', async () => {
  const { simulation, writes } = await liveThrough()
  const kindsOf = (verb: Write['verb']) =>
    [...new Set(writes.filter(write => write.verb === verb).map(({ resource }) => resource))].sort()
  assert.deepEqual(kindsOf('patch'), [
    'computedomains',
    'controllerrevisions',
    'horizontalpodautoscalers',
    'podcliques',
    'podcliquescalinggroups',
    'podcliquesets',
    'podgangs',
    'podgroups',
    'pods',
    'resourceclaims',
    'rolebindings',
    'roles',
    'serviceaccounts',
    'services',
  ])
  for (const { verb, resource, objects, uid } of writes)
    if (verb === 'patch') assert.equal(uid, objects[0]?.metadata.uid, `${verb} ${resource}`)
  assert.deepEqual(kindsOf('delete'), [
    'computedomains',
    'controllerrevisions',
    'horizontalpodautoscalers',
    'podcliques',
    'podcliquescalinggroups',
    'podgangs',
    'pods',
    'resourceclaims',
    'rolebindings',
    'roles',
    'serviceaccounts',
    'services',
  ])
  const collections = new Set(writes.filter(one => one.isCollection).map(({ resource }) => resource))
  assert.deepEqual([...collections].sort(), ['podcliques', 'podcliquescalinggroups', 'podgangs', 'pods'])
  assert.ok(!simulation.set.metadata.finalizers?.includes(finalizer.podCliqueSet))
})
