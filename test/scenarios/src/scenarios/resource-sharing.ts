// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { defaultConfiguration, label, type Pod, type ResourceClaim } from '@grove/api'
import type { Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { oneDevice, provideDevices, provideNamespace, provideTemplate } from './devices.ts'

/** The names of its claims are too long for names inside pods. */
const long = `u8-${'x'.repeat(60)}`

const container = (name: string) => `{name: ${name}, image: registry.example/${name}:1}`

/** Shared devices at every level, in every scope, with and without filters, from templates of all three sources. */
const sharing = (deviceClass: string, farNamespace: string) => `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: share}
spec:
  replicas: 1
  template:
    resourceClaimTemplates:
${['u1', 'u2', 'u3', 'u4', 'u5', 'u6', 'u7', long]
  .map(name => `      - {name: ${name}, templateSpec: {spec: ${JSON.stringify(oneDevice(deviceClass))}}}`)
  .join('\n')}
    resourceSharing:
      - {name: u1, scope: AllReplicas}
      - {name: ext, scope: PerReplica}
      - {name: u2, scope: PerReplica, filter: {childCliqueNames: [wa]}}
      - {name: u3, scope: AllReplicas, filter: {childScalingGroupNames: [sg]}}
    cliques:
      - name: wa
        resourceSharing:
          - {name: u4, scope: PerReplica}
          - {name: far, namespace: ${farNamespace}, scope: AllReplicas}
        spec:
          roleName: wa
          replicas: 1
          podSpec:
            initContainers: [${container('download')}]
            containers: [${container('main')}, ${container('side')}]
      - name: wb
        resourceSharing: [{name: ${long}, scope: AllReplicas}]
        spec:
          roleName: wb
          replicas: 1
          podSpec: {containers: [${container('main')}]}
    podCliqueScalingGroups:
      - name: sg
        cliqueNames: [wb]
        replicas: 2
        resourceSharing:
          - {name: u5, scope: AllReplicas}
          - {name: u6, scope: PerReplica}
          - {name: u7, scope: AllReplicas, filter: {childCliqueNames: [wb]}}
`

const claims = (harness: Harness): Promise<Stored<ResourceClaim>[]> =>
  harness.list(resources.resourceClaims, 'share')

async function untilClaims(harness: Harness, count: number): Promise<string[]> {
  const found = await harness.until(
    `${count} claims`,
    () => claims(harness),
    all => all.length === count && all.every(claim => !claim.metadata.deletionTimestamp),
  )
  return found.map(claim => claim.metadata.name).sort()
}

const claimsOf = (pod: Pod) => pod.spec!.resourceClaims!.map(claim => claim.resourceClaimName)
const podsOf = (pods: readonly Stored<Pod>[], clique: string) =>
  pods.filter(pod => pod.metadata.labels?.[label.podClique] === clique)

const ownNamespaceOnly = {
  ...defaultConfiguration(),
  resourceSharing: { allowedTemplateNamespaces: [] },
}

async function deploy(harness: Harness): Promise<Stored<Pod>[]> {
  const deviceClass = await provideDevices(harness, 40)
  const far = `${harness.namespace}-far`
  await provideNamespace(harness, far)
  await provideTemplate(harness, 'ext', deviceClass)
  await provideTemplate(harness, 'far', deviceClass, far)
  await harness.apply(sharing(deviceClass, far))
  return harness.untilReady('share', 3)
}

const initialClaims = [
  'share-0-ext',
  'share-0-sg-0-u6',
  `share-0-sg-0-wb-all-${long}`,
  'share-0-sg-1-u6',
  `share-0-sg-1-wb-all-${long}`,
  'share-0-sg-all-u5',
  'share-0-sg-all-u7',
  'share-0-u2',
  'share-0-wa-0-u4',
  'share-0-wa-all-far',
  'share-all-u1',
  'share-all-u3',
]

export const resourceSharingScenarios: Scenario[] = [
  {
    name: 'shared claims follow every scale-out and scale-in, at every level',
    async run(harness) {
      const pods = await deploy(harness)
      assert.deepEqual(await untilClaims(harness, 12), initialClaims)
      const ofWa = ['share-all-u1', 'share-0-ext', 'share-0-u2', 'share-0-wa-all-far']
      assert.deepEqual(claimsOf(podsOf(pods, 'share-0-wa')[0]!), [...ofWa, 'share-0-wa-0-u4'])
      assert.deepEqual(claimsOf(podsOf(pods, 'share-0-sg-1-wb')[0]!), [
        'share-all-u1',
        'share-all-u3',
        'share-0-ext',
        'share-0-sg-all-u5',
        'share-0-sg-all-u7',
        'share-0-sg-1-u6',
        `share-0-sg-1-wb-all-${long}`,
      ])
      const { containers, initContainers = [] } = podsOf(pods, 'share-0-wa')[0]!.spec!
      for (const one of [...containers, ...initContainers])
        assert.deepEqual(
          one.resources?.claims?.map(claim => claim.name),
          [...ofWa, 'share-0-wa-0-u4'],
        )
      await ownersAreRight(harness)
      assert.deepEqual(await harness.writesOfAnotherReconcile('share'), [])

      const scaled = async (
        what: 'Groups' | 'Clique' | 'Sets',
        to: number,
        claimed: number,
        ready: number,
      ) => {
        const [resource, name] = {
          Groups: [resources.podCliqueScalingGroups, 'share-0-sg'] as const,
          Clique: [resources.podCliques, 'share-0-wa'] as const,
          Sets: [resources.podCliqueSets, 'share'] as const,
        }[what]
        await harness.scale(resource as never, name, to)
        const names = await untilClaims(harness, claimed)
        return { names, pods: await harness.untilReady('share', ready) }
      }
      const one = await scaled('Groups', 1, 10, 2)
      assert.deepEqual(
        one.names,
        initialClaims.filter(name => !name.startsWith('share-0-sg-1-')),
      )
      const three = await scaled('Groups', 3, 14, 4)
      assert.ok(
        three.names.includes('share-0-sg-2-u6') && three.names.includes(`share-0-sg-2-wb-all-${long}`),
      )
      const two = await scaled('Clique', 2, 15, 5)
      assert.deepEqual(
        podsOf(two.pods, 'share-0-wa').map(claimsOf).sort(),
        ['share-0-wa-0-u4', 'share-0-wa-1-u4'].map(own => [...ofWa, own]),
      )
      const back = await scaled('Clique', 1, 14, 4)
      assert.ok(!back.names.includes('share-0-wa-1-u4'))
      const twice = await scaled('Sets', 2, 24, 7)
      assert.equal(twice.names.filter(name => name.startsWith('share-1-')).length, 10)
      assert.deepEqual((await scaled('Sets', 1, 14, 4)).names, three.names)

      await assert.rejects(
        harness.edit('share', set => {
          set.spec.template.resourceSharing![0]!.scope = 'PerReplica'
        }),
        /field is immutable/,
      )
      await harness.deleteSet('share')
      await untilClaims(harness, 0)
      await harness.untilReady('share', 0)
    },
  },
  {
    name: 'recreates deleted claims at every level, and keeps fields that other components wrote',
    async run(harness) {
      await deploy(harness)
      await untilClaims(harness, 12)
      const at = (name: string) => ({ name, namespace: harness.namespace })
      await harness.client.patch(resources.resourceClaims, at('share-all-u3'), {
        merge: { metadata: { labels: { team: 'blue', [label.partOf]: null, [label.managedBy]: null } } },
      })
      const labelled = await harness.until(
        'its labels to be restored',
        () => harness.client.get(resources.resourceClaims, at('share-all-u3')),
        claim => claim.metadata.labels?.[label.partOf] === 'share',
      )
      assert.equal(labelled.metadata.labels?.team, 'blue')
      // No finalizer holds a claim whose pods are deleted.
      await harness.scale(resources.podCliqueSets, 'share', 0)
      await harness.untilReady('share', 0)
      const [kept] = (await claims(harness)).filter(claim => claim.metadata.name === 'share-all-u1')
      await harness.client.delete(resources.resourceClaims, at('share-all-u1'))
      await harness.until(
        'the claim of the set to be recreated',
        () => claims(harness),
        all =>
          all.some(({ metadata }) => metadata.name === 'share-all-u1' && metadata.uid !== kept!.metadata.uid),
      )
      await harness.scale(resources.podCliqueSets, 'share', 1)
      await harness.untilReady('share', 3)
      await harness.scale(resources.podCliqueScalingGroups, 'share-0-sg', 0)
      await harness.scale(resources.podCliques, 'share-0-wa', 0)
      await harness.untilReady('share', 0)
      for (const name of ['share-0-sg-all-u5', 'share-0-wa-all-far']) {
        const before = await harness.client.get(resources.resourceClaims, at(name))
        await harness.client.delete(resources.resourceClaims, at(name))
        await harness.until(
          `another ${name}`,
          () => harness.client.find(resources.resourceClaims, at(name)),
          claim => claim !== undefined && claim.metadata.uid !== before.metadata.uid,
        )
      }
      // After this, the namespace does not allow references from other namespaces, and new claims are not created.
      await harness.restartOperator(ownNamespaceOnly)
      await harness.client.delete(resources.resourceClaims, at('share-0-wa-all-far'))
      await harness.until(
        'the clique to report the missing permission',
        () => harness.client.get(resources.podCliques, at('share-0-wa')),
        ({ status }) =>
          (status?.lastErrors ?? []).some(({ description }) =>
            description.includes('must list it in resourceSharing.allowedTemplateNamespaces'),
          ),
      )
    },
  },
]

async function ownersAreRight(harness: Harness): Promise<void> {
  for (const { metadata } of await claims(harness)) {
    const owner = metadata.ownerReferences?.find(reference => reference.controller)
    const wanted = /-(wa|wb)-/.test(metadata.name)
      ? 'PodClique'
      : metadata.name.includes('-sg-')
        ? 'PodCliqueScalingGroup'
        : 'PodCliqueSet'
    assert.equal(owner?.kind, wanted, metadata.name)
    assert.ok(metadata.name.startsWith(owner!.name))
  }
}
