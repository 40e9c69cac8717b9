// SPDX-License-Identifier: Apache-2.0

// Claims live as long as what they are for, no longer and no shorter.
import assert from 'node:assert/strict'
import { label, type ResourceClaim, type ServiceAccount } from '@grove/api'
import { resources } from '@grove/operator'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'
import { oneDevice, provideDevices, provideTemplate } from './devices.ts'

const hold = 'example.com/hold'

/** Three pods, each with a device of its own; they are placed when the story lets them. */
const workers = (deviceClass: string) => `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: lives}
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

const claimAt = (stage: Stage, index: number) => ({
  name: `lives-0-work-${index}-own`,
  namespace: stage.namespace,
})

/** Takes away the gate that the template gives to pods, except from those with these indexes. */
async function release(stage: Stage, except: readonly string[] = []): Promise<void> {
  for (const { metadata, spec } of await stage.pods('lives')) {
    if (!spec?.schedulingGates?.some(gate => gate.name === hold)) continue
    if (except.includes(metadata.labels?.[label.podIndex] ?? '')) continue
    const ref = { name: metadata.name, namespace: stage.namespace }
    const patch = { spec: { schedulingGates: [{ name: hold, $patch: 'delete' }] } }
    await stage.client.patch(resources.pods, ref, { strategic: patch })
  }
}

const indexes = async (stage: Stage) =>
  (await stage.pods('lives')).map(pod => pod.metadata.labels?.[label.podIndex] ?? '').sort()

export const claimLifeStories: Story[] = [
  {
    name: 'when a pod of a low index goes, those that stay keep their claims',
    async tell(stage) {
      await stage.apply(workers(await provideDevices(stage, 6)))
      await stage.until(
        'three pods',
        () => indexes(stage),
        found => found.length === 3,
      )
      await release(stage, ['0'])
      const placed = () => stage.pods('lives').then(pods => pods.filter(pod => pod.spec?.nodeName).length)
      await stage.until('two of them to be placed', placed, count => count === 2)
      const before = await stage.client.get(resources.resourceClaims, claimAt(stage, 2))
      await stage.scale(resources.podCliques, 'lives-0-work', 2)
      await stage.until(
        'the pod that was not placed to go',
        () => indexes(stage),
        found => found.join() === '1,2',
      )
      await stage.untilQuiet()
      const after = await stage.client.get(resources.resourceClaims, claimAt(stage, 2))
      assert.equal(after.metadata.uid, before.metadata.uid)
      assert.equal(after.metadata.deletionTimestamp, undefined)
      // The next one to come fills the hole, and the one after it leaves the end.
      const [last] = (await stage.pods('lives')).filter(pod => pod.metadata.labels?.[label.podIndex] === '2')
      await stage.deletePod(last!.metadata.name)
      await stage.until(
        'the lowest indexes',
        () => indexes(stage),
        found => found.join() === '0,1',
      )
      await stage.until(
        'the claim of the third to go',
        () => stage.client.find(resources.resourceClaims, claimAt(stage, 2)),
        claim => claim === undefined,
      )
    },
  },
  {
    name: 'a clique that is made anew waits for the claims of its predecessor to be gone, and then has its own',
    async tell(stage) {
      await stage.apply(workers(await provideDevices(stage, 6)))
      await stage.until(
        'three pods',
        () => indexes(stage),
        found => found.length === 3,
      )
      const ref = claimAt(stage, 0)
      await stage.client.patch(resources.resourceClaims, ref, {
        merge: { metadata: { finalizers: ['example.com/held'] } },
      })
      const before = await stage.client.get(resources.resourceClaims, ref)
      const clique = { name: 'lives-0-work', namespace: stage.namespace }
      const { metadata: former } = await stage.client.get(resources.podCliques, clique)
      await stage.client.delete(resources.podCliques, clique)
      await stage.until(
        'another clique that says what it waits for',
        () => stage.client.find(resources.podCliques, clique),
        found =>
          found !== undefined &&
          found.metadata.uid !== former.uid &&
          (found.status?.lastErrors ?? []).some(({ code }) => code === 'ERR_SYNC_PCLQ_RESOURCE_CLAIM'),
      )
      const own = await stage.client.get(resources.podCliques, clique)
      const made = (await stage.pods('lives')).filter(({ metadata }) =>
        metadata.ownerReferences?.some(owner => owner.uid === own.metadata.uid),
      )
      assert.deepEqual(made, [])
      await stage.client.patch(resources.resourceClaims, ref, { merge: { metadata: { finalizers: null } } })
      await stage.until(
        'pods of the new clique',
        () => stage.pods('lives'),
        pods =>
          pods.length === 3 &&
          pods.every(pod => pod.metadata.ownerReferences?.some(owner => owner.uid === own.metadata.uid)),
      )
      const after = await stage.client.get(resources.resourceClaims, ref)
      assert.notEqual(after.metadata.uid, before.metadata.uid)
      assert.ok(after.metadata.ownerReferences?.some(owner => owner.uid === own.metadata.uid))
    },
  },
  {
    name: 'no pod is made without its claims: a template that comes late is picked up, a foreign claim is left alone',
    async tell(stage) {
      const deviceClass = await provideDevices(stage, 10)
      const owner = await stage.client.create(resources.serviceAccounts, {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'somebody', namespace: stage.namespace },
      } as ServiceAccount)
      const { name, uid } = owner.metadata
      await stage.client.create(resources.resourceClaims, {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceClaim',
        metadata: {
          name: 'share-0-web-all-late',
          namespace: stage.namespace,
          ownerReferences: [{ apiVersion: 'v1', kind: 'ServiceAccount', name, uid, controller: true }],
        },
        spec: oneDevice(deviceClass),
      } as ResourceClaim)
      await stage.apply(`
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
        stage.until(
          `the clique to say "${text}"`,
          () => stage.cliques('share'),
          ([clique]) => (clique?.status?.lastErrors ?? []).some(error => error.description.includes(text)),
        )
      await says('late does not exist')
      await provideTemplate(stage, 'late', deviceClass)
      await says('is controlled by ServiceAccount somebody')
      assert.deepEqual(await stage.pods('share'), [])
      const ref = { name: 'share-0-web-all-late', namespace: stage.namespace }
      const merge = { metadata: { ownerReferences: null } }
      await stage.client.patch(resources.resourceClaims, ref, { merge })
      await says('does not belong to this PodCliqueSet')
      const { metadata } = await stage.client.get(resources.resourceClaims, ref)
      assert.deepEqual(
        [metadata.ownerReferences, metadata.labels],
        [undefined, undefined],
        'it is not adopted',
      )
      await stage.client.delete(resources.resourceClaims, ref)
      await stage.untilReady('share', 2)
      await stage.until(
        'no error to be left',
        () => stage.cliques('share'),
        ([clique]) => (clique?.status?.lastErrors ?? []).length === 0,
      )
    },
  },
]
