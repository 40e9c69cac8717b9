// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { annotation, defaultConfiguration, finalizer, label, mnnvlClaimName, type Pod } from '@grove/api'
import { defineResource, isAlreadyExists, type KubeObject, type Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { provideDevices, provideTemplate } from './devices.ts'

const enabled = {
  ...defaultConfiguration(),
  network: { ...defaultConfiguration().network, autoMNNVLEnabled: true },
}

const definitions = defineResource<KubeObject & { spec?: unknown }>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
})

const { group, version, resource, kind } = resources.computeDomains

/** A stand-in for the driver's custom resource that accepts every object. */
export const computeDomainDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${resource}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: resource, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}

async function installComputeDomains(harness: Harness): Promise<void> {
  try {
    await harness.client.create(definitions, computeDomainDefinition)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
  await harness.until(
    'ComputeDomains to be served',
    () =>
      harness.client.list(resources.computeDomains, { namespace: harness.namespace }).catch(() => undefined),
    found => found !== undefined,
  )
}

const gpuClique = (name: string, annotations: Record<string, string> = {}, gpus = 1) => `
      - name: ${name}
        annotations: ${JSON.stringify(annotations)}
        spec:
          roleName: ${name}
          replicas: 1
          podSpec:
            # Never scheduled: this scenario needs pods that exist, not pods that run.
            schedulingGates: [{name: example.com/hold}]
            containers:
              - {name: engine, image: registry.example/engine:1, resources: {limits: {nvidia.com/gpu: ${gpus}}}}
              - {name: side, image: registry.example/side:1}`

/** Two NVLink groups: `fabric` for the whole set, `own` for one clique. One clique is excluded, and one has no GPUs. */
const fabric = `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: fabric, annotations: {${annotation.mnnvlGroup}: fabric}}
spec:
  replicas: 1
  template:
    cliques:${gpuClique('lead')}${gpuClique('work')}${gpuClique('apart', { [annotation.mnnvlGroup]: 'own' })}${gpuClique('out', { [annotation.mnnvlGroup]: 'none' })}
      - name: router
        spec: {roleName: router, replicas: 1, podSpec: {containers: [{name: main, image: registry.example/router:1}]}}
    podCliqueScalingGroups:
      - {name: eng, cliqueNames: [lead, work], replicas: 1}
`

const grouped = (group?: string): Record<string, string> => (group ? { [annotation.mnnvlGroup]: group } : {})

/** Groups that are inherited, replaced and excluded at every level. Group `c` is excluded, one of its cliques is not. */
const inherited = `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: tiers, annotations: {${annotation.mnnvlGroup}: main}}
spec:
  replicas: 1
  template:
    cliques:${gpuClique('s1')}${gpuClique('s2', grouped('train'))}${gpuClique('s3', grouped('none'))}${gpuClique('a1')}${gpuClique('a2', grouped('infer'))}${gpuClique('b1')}${gpuClique('b2', grouped('batch'))}${gpuClique('b3', grouped('none'))}${gpuClique('c1')}${gpuClique('c2', grouped('solo'))}
      - name: cpu
        annotations: ${JSON.stringify(grouped('train'))}
        spec: {roleName: cpu, replicas: 1, podSpec: {containers: [{name: main, image: registry.example/cpu:1}]}}
    podCliqueScalingGroups:
      - {name: a, cliqueNames: [a1, a2], replicas: 1}
      - {name: b, cliqueNames: [b1, b2, b3], replicas: 1, annotations: ${JSON.stringify(grouped('train'))}}
      - {name: c, cliqueNames: [c1, c2], replicas: 1, annotations: ${JSON.stringify(grouped('none'))}}
`

const groupsOfTiers: Readonly<Record<string, string | undefined>> = {
  s1: 'main',
  s2: 'train',
  s3: undefined,
  'a-0-a1': 'main',
  'a-0-a2': 'infer',
  'b-0-b1': 'train',
  'b-0-b2': 'batch',
  'b-0-b3': undefined,
  'c-0-c1': undefined,
  'c-0-c2': 'solo',
  cpu: undefined,
}

const domains = (harness: Harness) => harness.list(resources.computeDomains, 'fabric')

async function untilDomains(harness: Harness, names: readonly string[]) {
  return harness.until(
    `the domains ${names.join(', ')}`,
    () => domains(harness),
    found =>
      found
        .map(({ metadata }) => metadata.name)
        .sort()
        .join() === names.join() && found.every(({ metadata }) => !metadata.deletionTimestamp),
  )
}

/** Simulates the driver: creates a claim template for every domain. */
async function driver(harness: Harness, replicas: number): Promise<void> {
  const deviceClass = await provideDevices(harness, 30)
  for (let replica = 0; replica < replicas; replica++)
    for (const group of ['fabric', 'own'])
      await provideTemplate(harness, `fabric-${replica}-${group}`, deviceClass)
}

const templateOf = (pod: Pod) =>
  pod.spec!.resourceClaims?.find(claim => claim.name === mnnvlClaimName)?.resourceClaimTemplateName

function inClique(pods: readonly Stored<Pod>[], clique: string): Stored<Pod> {
  return pods.find(pod => pod.metadata.labels?.[label.podClique] === clique)!
}

async function untilPods(harness: Harness, count: number): Promise<Stored<Pod>[]> {
  return harness.until(
    `${count} pods`,
    () => harness.pods('fabric'),
    pods => pods.length === count,
  )
}

export const mnnvlScenarios: Scenario[] = [
  {
    name: 'every replica gets an NVLink domain for each of its groups, and its GPU containers claim it',
    configuration: enabled,
    async run(harness) {
      await installComputeDomains(harness)
      await harness.restartOperator()
      await driver(harness, 3)
      await harness.apply(fabric)
      const [domain] = await untilDomains(harness, ['fabric-0-fabric', 'fabric-0-own'])
      assert.deepEqual(domain!.spec, {
        numNodes: 0,
        channel: { resourceClaimTemplate: { name: 'fabric-0-fabric' } },
      })
      assert.deepEqual(domain!.metadata.finalizers, [finalizer.computeDomain])
      assert.equal(domain!.metadata.labels?.[label.mnnvlGroup], 'fabric')
      const pods = await untilPods(harness, 5)
      assert.deepEqual(await harness.writesOfAnotherReconcile('fabric'), [])
      const claimed = ['eng-0-lead', 'eng-0-work', 'apart', 'out', 'router'].map(clique =>
        templateOf(inClique(pods, `fabric-0-${clique}`)),
      )
      assert.deepEqual(claimed, ['fabric-0-fabric', 'fabric-0-fabric', 'fabric-0-own', undefined, undefined])
      const { containers } = inClique(pods, 'fabric-0-apart').spec!
      assert.deepEqual(
        containers.map(({ resources: { claims } = {} }) => claims?.map(claim => claim.name)),
        [[mnnvlClaimName], undefined],
      )

      await harness.scale(resources.podCliqueSets, 'fabric', 3)
      await untilDomains(
        harness,
        [0, 1, 2].flatMap(replica => [`fabric-${replica}-fabric`, `fabric-${replica}-own`]),
      )
      const all = await untilPods(harness, 15)
      // A terminating pod keeps the domain of its own replica only.
      const slow = inClique(all, 'fabric-2-apart').metadata.name
      const holdPod = (finalizers: string[]) =>
        harness.client.patch(
          resources.pods,
          { name: slow, namespace: harness.namespace },
          { merge: { metadata: { finalizers } } },
        )
      await holdPod(['example.com/held'])
      await harness.scale(resources.podCliqueSets, 'fabric', 1)
      await untilDomains(harness, ['fabric-0-fabric', 'fabric-0-own', 'fabric-2-fabric', 'fabric-2-own'])
      await harness.untilQuiet()
      assert.equal((await domains(harness)).length, 4)
      await holdPod([])
      await untilDomains(harness, ['fabric-0-fabric', 'fabric-0-own'])
      // An empty group annotation is valid.
      await harness.scale(resources.podCliqueSets, 'fabric', 0)
      await untilDomains(harness, [])
      await harness.scale(resources.podCliqueSets, 'fabric', 1)
      await untilDomains(harness, ['fabric-0-fabric', 'fabric-0-own'])

      await assert.rejects(
        harness.edit('fabric', set => {
          set.metadata.annotations![annotation.mnnvlGroup] = 'other'
        }),
        /immutable/,
      )
      // A clique that no longer requests GPUs leaves its domain, and the domain is deleted although the replica stays.
      await untilPods(harness, 5)
      await harness.edit('fabric', ({ spec: { template } }) => {
        const apart = template.cliques.find(({ name }) => name === 'apart')!
        apart.spec.podSpec.containers[0]!.resources = {}
      })
      await untilDomains(harness, ['fabric-0-fabric'])
      await harness.deleteSet('fabric')
      await untilDomains(harness, [])
      await harness.until(
        'the set to be deleted',
        () => harness.set('fabric'),
        set => set === undefined,
      )
    },
  },
  {
    name: 'a clique has the NVLink group of its own, of its scaling group, or of its set',
    configuration: enabled,
    async run(harness) {
      await installComputeDomains(harness)
      await harness.restartOperator()
      await harness.apply(inherited)
      const cliques = await harness.until(
        'all cliques',
        () => harness.cliques('tiers'),
        found => found.length === Object.keys(groupsOfTiers).length,
      )
      for (const { metadata, spec } of cliques) {
        const group = groupsOfTiers[metadata.name.replace('tiers-0-', '')]
        const claims = (spec.podSpec.resourceClaims ?? []).map(claim => [
          claim.name,
          claim.resourceClaimTemplateName,
        ])
        assert.deepEqual(claims, group ? [[mnnvlClaimName, `tiers-0-${group}`]] : [], metadata.name)
        const [first, ...others] = spec.podSpec.containers
        assert.deepEqual(
          first?.resources?.claims?.map(claim => claim.name),
          group && [mnnvlClaimName],
          metadata.name,
        )
        assert.ok(others.every(({ resources }) => resources?.claims === undefined))
      }
      const groups = await harness.groups('tiers')
      assert.deepEqual(
        groups
          .map(({ metadata }) => `${metadata.name} ${metadata.annotations?.[annotation.mnnvlGroup]}`)
          .sort(),
        ['tiers-0-a main', 'tiers-0-b train', 'tiers-0-c none'],
      )
      const untilCount = (count: number) =>
        harness.until(
          `${count} domains`,
          () => harness.list(resources.computeDomains, 'tiers'),
          found => found.length === count,
        )
      await untilCount(5)
      await harness.scale(resources.podCliqueSets, 'tiers', 4)
      await untilCount(20)
      await harness.scale(resources.podCliqueSets, 'tiers', 2)
      const left = await untilCount(10)
      assert.ok(left.every(({ metadata }) => /^tiers-[01]-/.test(metadata.name)))
      await harness.deleteSet('tiers')
      await untilCount(0)
    },
  },
  {
    name: 'an NVLink domain is kept while pods use it, recreated when it is deleted, and repaired when it is edited',
    configuration: enabled,
    async run(harness) {
      await installComputeDomains(harness)
      await harness.restartOperator()
      await driver(harness, 2)
      await harness.apply(fabric)
      await untilDomains(harness, ['fabric-0-fabric', 'fabric-0-own'])
      await untilPods(harness, 5)
      const at = { name: 'fabric-0-fabric', namespace: harness.namespace }
      const { metadata: before } = await harness.client.get(resources.computeDomains, at)
      await harness.client.patch(resources.computeDomains, at, {
        merge: {
          metadata: {
            finalizers: ['example.com/driver'],
            labels: { [label.mnnvlGroup]: null, team: 'blue' },
          },
        },
      })
      await harness.until(
        'finalizer and label to be restored',
        () => harness.client.get(resources.computeDomains, at),
        ({ metadata }) =>
          metadata.finalizers?.join() === `example.com/driver,${finalizer.computeDomain}` &&
          metadata.labels?.[label.mnnvlGroup] === 'fabric' &&
          metadata.labels.team === 'blue',
      )
      await harness.client.delete(resources.computeDomains, at)
      await harness.untilQuiet()
      const held = await harness.client.get(resources.computeDomains, at)
      assert.ok(held.metadata.deletionTimestamp)
      assert.ok(held.metadata.finalizers?.includes(finalizer.computeDomain))
      await harness.scale(resources.podCliqueSets, 'fabric', 0)
      await harness.until(
        'the finalizer of the operator to be removed with the last pod',
        () => harness.client.get(resources.computeDomains, at),
        ({ metadata }) => metadata.finalizers?.join() === 'example.com/driver',
      )
      // The name is taken until the driver removes its finalizer. Until then the replica gets no pods.
      await harness.scale(resources.podCliqueSets, 'fabric', 1)
      await harness.until(
        'the set to report the domain that it waits for',
        () => harness.set('fabric'),
        set =>
          (set?.status?.lastErrors ?? []).some(error => error.description.includes('still being deleted')),
      )
      assert.equal((await harness.pods('fabric')).length, 0)
      // Other replicas do not wait.
      await harness.scale(resources.podCliqueSets, 'fabric', 2)
      const others = await untilPods(harness, 5)
      assert.ok(others.every(({ metadata }) => metadata.labels?.[label.setReplicaIndex] === '1'))
      await harness.client.patch(resources.computeDomains, at, { merge: { metadata: { finalizers: null } } })
      const found = await untilDomains(
        harness,
        [0, 1].flatMap(replica => [`fabric-${replica}-fabric`, `fabric-${replica}-own`]),
      )
      assert.ok(found.every(({ metadata }) => metadata.uid !== before.uid))
      await untilPods(harness, 10)
      await harness.deleteSet('fabric')
      await untilDomains(harness, [])
    },
  },
  {
    name: 'with NVLink domains disabled, sets that have domains keep them, scale and are deleted; new ones are rejected',
    configuration: enabled,
    async run(harness) {
      await installComputeDomains(harness)
      await harness.restartOperator()
      await driver(harness, 2)
      await harness.apply(fabric)
      await untilPods(harness, 5)
      await harness.restartOperator(defaultConfiguration())
      await assert.rejects(
        harness.apply(fabric.replace('name: fabric,', 'name: another,')),
        /MNNVL is not enabled/,
      )
      await harness.scale(resources.podCliqueSets, 'fabric', 2)
      await untilDomains(harness, ['fabric-0-fabric', 'fabric-0-own', 'fabric-1-fabric', 'fabric-1-own'])
      await untilPods(harness, 10)
      await harness.deleteSet('fabric')
      await untilDomains(harness, [])
    },
  },
]
