// SPDX-License-Identifier: Apache-2.0

// Ways for a set to go other than by itself, while all is well: in the middle of its making, with nobody at work, with
// its namespace, or alone.
import assert from 'node:assert/strict'
import { defineResource, type KubeObject, type Resource, type Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { untilNoChildIsLeft, untilNothingIsLeft } from './deletion.ts'
import { grouped, solo } from './manifests.ts'

const namespaces = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
})

const untilGone = (harness: Harness, name: string) =>
  harness.until(
    `${name} to be gone`,
    () => harness.set(name),
    set => set === undefined,
  )

const madeSince = (harness: Harness) => harness.writes.filter(({ verb }) => verb === 'create')

export const departureScenarios: Scenario[] = [
  {
    name: 'a set that is deleted while it is made and nobody is at work goes when somebody is, and nothing is made of it again',
    async run(harness) {
      await harness.apply(grouped)
      await harness.until(
        'a first clique',
        () => harness.cliques('grouped'),
        cliques => cliques.length > 0,
      )
      await harness.abandonOperator()
      await harness.deleteSet('grouped')
      assert.ok((await harness.set('grouped'))?.metadata.deletionTimestamp, 'it waits for us')
      harness.writes.length = 0
      await harness.startOperator()
      await untilGone(harness, 'grouped')
      await untilNothingIsLeft(harness, 'grouped')
      assert.deepEqual(madeSince(harness), [])
    },
  },
  {
    name: 'a set whose children go first gets none of them back, whatever else happens to it',
    async run(harness) {
      await harness.apply(grouped)
      await harness.untilReady('grouped', 10)
      await harness.untilAvailable('grouped', 1)
      await harness.untilQuiet()
      harness.writes.length = 0
      // Held by somebody else as well, so that there is time to do more to it.
      const held = 'example.com/held'
      const { finalizers = [] } = (await harness.set('grouped'))!.metadata
      await harness.patchSet('grouped', { metadata: { finalizers: [...finalizers, held] } })
      await harness.client.delete(
        resources.podCliqueSets,
        { name: 'grouped', namespace: harness.namespace },
        { propagationPolicy: 'Foreground' },
      )
      await harness.patchSet('grouped', { spec: { replicas: 3 } })
      await harness.restartOperator()
      await untilNoChildIsLeft(harness, 'grouped')
      await harness.untilQuiet()
      assert.deepEqual(madeSince(harness), [])
      await harness.patchSet('grouped', { metadata: { finalizers: null } })
      await untilGone(harness, 'grouped')
    },
  },
  {
    name: 'a namespace goes with its sets, and the operator lets it, without an error in its log',
    async run(harness) {
      await harness.apply(grouped)
      await harness.apply(solo)
      await harness.untilReady('grouped', 10)
      await harness.untilReady('solo', 2)
      await harness.untilQuiet()
      harness.writes.length = 0
      await harness.client.delete(namespaces, { name: harness.namespace })
      await harness.until(
        'the namespace to be gone',
        () => harness.client.find(namespaces, { name: harness.namespace }),
        namespace => namespace === undefined,
      )
      await harness.untilQuiet()
      assert.deepEqual(harness.errors, [])
      // One attempt may be what tells; it is not repeated.
      const attempts = harness.writes.filter(({ verb, resource }) => verb === 'create' && resource === 'pods')
      assert.ok(attempts.length <= 12, `${attempts.length} attempts to create pods`)
    },
  },
  {
    name: 'a set that is deleted alone leaves its pods running, and a namesake takes its children over as they stand',
    async run(harness) {
      await harness.apply(grouped)
      const before = await harness.untilReady('grouped', 10)
      await harness.untilAvailable('grouped', 1)
      await deleteAlone(harness, resources.podCliqueSets, 'grouped')
      await untilGone(harness, 'grouped')
      await harness.untilQuiet()
      assert.deepEqual(uids(await harness.untilReady('grouped', 10)), uids(before))
      const again = await harness.apply(grouped)
      const set = await harness.untilAvailable('grouped', 1)
      assert.equal(set.metadata.uid, again.metadata.uid)
      await harness.untilQuiet()
      assert.deepEqual(uids(await harness.pods('grouped')), uids(before), 'no pod was touched')
      assert.deepEqual((await harness.set('grouped'))?.status?.lastErrors ?? [], [])
      await harness.deleteSet('grouped')
      await untilGone(harness, 'grouped')
      await untilNothingIsLeft(harness, 'grouped')
    },
  },
  {
    name: 'a namesake that wants something else updates what it takes over, and lets go what it does not want',
    async run(harness) {
      await harness.apply(solo.replace('replicas: 1', 'replicas: 2'))
      const before = await harness.untilReady('solo', 4)
      await harness.untilAvailable('solo', 2)
      await deleteAlone(harness, resources.podCliqueSets, 'solo')
      await untilGone(harness, 'solo')
      await harness.apply(solo.replace('web:1', 'web:2'))
      const after = await harness.until(
        'two pods of the new image',
        () => harness.pods('solo'),
        pods =>
          pods.length === 2 && pods.every(pod => pod.spec?.containers[0]?.image === 'registry.example/web:2'),
      )
      assert.ok(after.every(({ metadata }) => !uids(before).includes(metadata.uid)))
      await harness.untilAvailable('solo', 1)
      await harness.deleteSet('solo')
      await untilGone(harness, 'solo')
      await untilNothingIsLeft(harness, 'solo')
    },
  },
  {
    name: 'a scaling group that is deleted alone is made again and takes its members over as they stand',
    async run(harness) {
      await harness.apply(grouped)
      const before = await harness.untilReady('grouped', 10)
      await harness.untilAvailable('grouped', 1)
      const former = uids(await harness.groups('grouped'))
      await deleteAlone(harness, resources.podCliqueScalingGroups, 'grouped-0-eng')
      await harness.until(
        'another group with its members',
        async () => ({ groups: await harness.groups('grouped'), cliques: await harness.cliques('grouped') }),
        ({ groups, cliques }) =>
          groups.length === 1 &&
          !former.includes(groups[0]!.metadata.uid) &&
          cliques.every(clique => clique.metadata.ownerReferences?.[0]?.controller),
      )
      await harness.untilAvailable('grouped', 1)
      await harness.untilQuiet()
      assert.deepEqual(uids(await harness.pods('grouped')), uids(before), 'no pod was touched')
    },
  },
]

async function deleteAlone<T extends KubeObject>(harness: Harness, resource: Resource<T>, name: string) {
  const ref = { name, namespace: harness.namespace }
  await harness.client.delete(resource, ref, { propagationPolicy: 'Orphan' })
}

function uids(objects: readonly Stored<KubeObject>[]): string[] {
  return objects.map(({ metadata }) => metadata.uid).toSorted()
}
