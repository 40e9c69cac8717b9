// SPDX-License-Identifier: Apache-2.0

// Unusual deletions of healthy sets: during creation, while no operator runs, with the namespace, and with
// --cascade=orphan.
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
    `${name} to be deleted`,
    () => harness.set(name),
    set => set === undefined,
  )

const madeSince = (harness: Harness) => harness.writes.filter(({ verb }) => verb === 'create')

export const unusualDeletionScenarios: Scenario[] = [
  {
    name: 'a set that is deleted during its creation while no operator runs is deleted by the next operator, and nothing is created for it',
    async run(harness) {
      await harness.apply(grouped)
      await harness.until(
        'a first clique',
        () => harness.cliques('grouped'),
        cliques => cliques.length > 0,
      )
      await harness.abandonOperator()
      await harness.deleteSet('grouped')
      assert.ok(
        (await harness.set('grouped'))?.metadata.deletionTimestamp,
        'the finalizer keeps the set until an operator runs',
      )
      harness.writes.length = 0
      await harness.startOperator()
      await untilGone(harness, 'grouped')
      await untilNothingIsLeft(harness, 'grouped')
      assert.deepEqual(madeSince(harness), [])
    },
  },
  {
    name: 'the operator recreates no children of a set that is deleted with foreground cascading',
    async run(harness) {
      await harness.apply(grouped)
      await harness.untilReady('grouped', 10)
      await harness.untilAvailable('grouped', 1)
      await harness.untilQuiet()
      harness.writes.length = 0
      // A second finalizer keeps the set, so that the scenario can change it further.
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
    name: 'the operator does not obstruct the deletion of a namespace, and logs no error',
    async run(harness) {
      await harness.apply(grouped)
      await harness.apply(solo)
      await harness.untilReady('grouped', 10)
      await harness.untilReady('solo', 2)
      await harness.untilQuiet()
      harness.writes.length = 0
      await harness.client.delete(namespaces, { name: harness.namespace })
      await harness.until(
        'the namespace to be deleted',
        () => harness.client.find(namespaces, { name: harness.namespace }),
        namespace => namespace === undefined,
      )
      await harness.untilQuiet()
      assert.deepEqual(harness.errors, [])
      // One failed attempt may be logged; it is not repeated.
      const attempts = harness.writes.filter(({ verb, resource }) => verb === 'create' && resource === 'pods')
      assert.ok(attempts.length <= 12, `${attempts.length} attempts to create pods`)
    },
  },
  {
    name: 'a set that is deleted with --cascade=orphan leaves its pods running, and a set with the same name adopts its children unchanged',
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
    name: 'a different set with the same name updates the children that it adopts, and deletes those that it does not need',
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
    name: 'a scaling group that is deleted with --cascade=orphan is recreated and adopts its members unchanged',
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
