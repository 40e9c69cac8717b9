// SPDX-License-Identifier: Apache-2.0

// A ResourceClaim exists exactly as long as its pod, clique, group or set.
import assert from 'node:assert/strict'
import { label, type ResourceClaim, type ServiceAccount } from '@grove/api'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { oneDevice, provideDevices, provideTemplate } from './devices.ts'

const hold = 'example.com/hold'

/** Three pods, each with its own device. The scenario decides when they are scheduled. */
const workers = (deviceClass: string) => `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: claims}
spec:
  replicas: 1
  template:
    resourceClaimTemplates:
      - {name: own, templateSpec: {spec: ${JSON.stringify(oneDevice(deviceClass))}}}
    cliques:
      - name: work
        resourceSharing: [{name: own, scope: PerReplica}]
        spec:
          roleName: work
          replicas: 3
          minAvailable: 1
          podSpec:
            schedulingGates: [{name: ${hold}}]
            containers: [{name: main, image: registry.example/work:1}]
`

const claimAt = (harness: Harness, index: number) => ({
  name: `claims-0-work-${index}-own`,
  namespace: harness.namespace,
})

/** Removes the scheduling gate of the template from all pods except those with these indexes. */
async function release(harness: Harness, except: readonly string[] = []): Promise<void> {
  for (const { metadata, spec } of await harness.pods('claims')) {
    if (!spec?.schedulingGates?.some(gate => gate.name === hold)) continue
    if (except.includes(metadata.labels?.[label.podIndex] ?? '')) continue
    const ref = { name: metadata.name, namespace: harness.namespace }
    const patch = { spec: { schedulingGates: [{ name: hold, $patch: 'delete' }] } }
    await harness.client.patch(resources.pods, ref, { strategic: patch })
  }
}

const indexes = async (harness: Harness) =>
  (await harness.pods('claims')).map(pod => pod.metadata.labels?.[label.podIndex] ?? '').sort()

export const claimLifecycleScenarios: Scenario[] = [
  {
    name: 'the other pods keep their claims when a pod with a low index is deleted',
    async run(harness) {
      await harness.apply(workers(await provideDevices(harness, 6)))
      await harness.until(
        'three pods',
        () => indexes(harness),
        found => found.length === 3,
      )
      await release(harness, ['0'])
      const scheduled = () =>
        harness.pods('claims').then(pods => pods.filter(pod => pod.spec?.nodeName).length)
      await harness.until('two of the pods to be scheduled', scheduled, count => count === 2)
      const before = await harness.client.get(resources.resourceClaims, claimAt(harness, 2))
      await harness.scale(resources.podCliques, 'claims-0-work', 2)
      await harness.until(
        'the unscheduled pod to be deleted',
        () => indexes(harness),
        found => found.join() === '1,2',
      )
      await harness.untilQuiet()
      const after = await harness.client.get(resources.resourceClaims, claimAt(harness, 2))
      assert.equal(after.metadata.uid, before.metadata.uid)
      assert.equal(after.metadata.deletionTimestamp, undefined)
      // The next pod fills the hole, and the one after it has the highest index.
      const [last] = (await harness.pods('claims')).filter(
        pod => pod.metadata.labels?.[label.podIndex] === '2',
      )
      await harness.deletePod(last!.metadata.name)
      await harness.until(
        'the lowest indexes',
        () => indexes(harness),
        found => found.join() === '0,1',
      )
      await harness.until(
        'the claim of the third pod to be deleted',
        () => harness.client.find(resources.resourceClaims, claimAt(harness, 2)),
        claim => claim === undefined,
      )
    },
  },
  {
    name: 'a recreated clique waits until the claims of its predecessor are deleted, and then has its own',
    async run(harness) {
      await harness.apply(workers(await provideDevices(harness, 6)))
      await harness.until(
        'three pods',
        () => indexes(harness),
        found => found.length === 3,
      )
      const ref = claimAt(harness, 0)
      await harness.client.patch(resources.resourceClaims, ref, {
        merge: { metadata: { finalizers: ['example.com/held'] } },
      })
      const before = await harness.client.get(resources.resourceClaims, ref)
      const clique = { name: 'claims-0-work', namespace: harness.namespace }
      const { metadata: former } = await harness.client.get(resources.podCliques, clique)
      await harness.client.delete(resources.podCliques, clique)
      await harness.until(
        'a new clique that reports the claims it waits for',
        () => harness.client.find(resources.podCliques, clique),
        found =>
          found !== undefined &&
          found.metadata.uid !== former.uid &&
          (found.status?.lastErrors ?? []).some(({ code }) => code === 'ERR_SYNC_PCLQ_RESOURCE_CLAIM'),
      )
      const own = await harness.client.get(resources.podCliques, clique)
      const made = (await harness.pods('claims')).filter(({ metadata }) =>
        metadata.ownerReferences?.some(owner => owner.uid === own.metadata.uid),
      )
      assert.deepEqual(made, [])
      await harness.client.patch(resources.resourceClaims, ref, { merge: { metadata: { finalizers: null } } })
      await harness.until(
        'pods of the new clique',
        () => harness.pods('claims'),
        pods =>
          pods.length === 3 &&
          pods.every(pod => pod.metadata.ownerReferences?.some(owner => owner.uid === own.metadata.uid)),
      )
      const after = await harness.client.get(resources.resourceClaims, ref)
      assert.notEqual(after.metadata.uid, before.metadata.uid)
      assert.ok(after.metadata.ownerReferences?.some(owner => owner.uid === own.metadata.uid))
    },
  },
  {
    name: 'creates no pod without its claims: picks up a template that is created later, and leaves a claim of another owner alone',
    async run(harness) {
      const deviceClass = await provideDevices(harness, 10)
      const owner = await harness.client.create(resources.serviceAccounts, {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'other-owner', namespace: harness.namespace },
      } as ServiceAccount)
      const { name, uid } = owner.metadata
      await harness.client.create(resources.resourceClaims, {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceClaim',
        metadata: {
          name: 'share-0-web-all-late',
          namespace: harness.namespace,
          ownerReferences: [{ apiVersion: 'v1', kind: 'ServiceAccount', name, uid, controller: true }],
        },
        spec: oneDevice(deviceClass),
      } as ResourceClaim)
      await harness.apply(`
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: share}
spec:
  replicas: 1
  template:
    cliques:
      - name: web
        resourceSharing: [{name: late, scope: AllReplicas}]
        spec: {roleName: web, replicas: 2, podSpec: {containers: [{name: main, image: 'registry.example/main:1'}]}}
`)
      const says = (text: string) =>
        harness.until(
          `the clique to report ""${text}"`,
          () => harness.cliques('share'),
          ([clique]) => (clique?.status?.lastErrors ?? []).some(error => error.description.includes(text)),
        )
      await says('late does not exist')
      await provideTemplate(harness, 'late', deviceClass)
      await says('is controlled by ServiceAccount other-owner')
      assert.deepEqual(await harness.pods('share'), [])
      const ref = { name: 'share-0-web-all-late', namespace: harness.namespace }
      const merge = { metadata: { ownerReferences: null } }
      await harness.client.patch(resources.resourceClaims, ref, { merge })
      await says('does not belong to this PodCliqueSet')
      const { metadata } = await harness.client.get(resources.resourceClaims, ref)
      assert.deepEqual(
        [metadata.ownerReferences, metadata.labels],
        [undefined, undefined],
        'the claim is not adopted',
      )
      await harness.client.delete(resources.resourceClaims, ref)
      await harness.untilReady('share', 2)
      await harness.until(
        'the errors to be cleared',
        () => harness.cliques('share'),
        ([clique]) => (clique?.status?.lastErrors ?? []).length === 0,
      )
    },
  },
]
