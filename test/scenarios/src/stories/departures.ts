// SPDX-License-Identifier: Apache-2.0

// Ways for a set to go other than by itself, while all is well: in the middle of its making, with nobody at work, with
// its namespace, or alone.
import assert from 'node:assert/strict'
import { defineResource, type KubeObject, type Resource, type Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'
import { untilNoChildIsLeft, untilNothingIsLeft } from './deletion.ts'
import { grouped, solo } from './manifests.ts'

const namespaces = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
})

const untilGone = (stage: Stage, name: string) =>
  stage.until(
    `${name} to be gone`,
    () => stage.set(name),
    set => set === undefined,
  )

const madeSince = (stage: Stage) => stage.writes.filter(({ verb }) => verb === 'create')

export const departureStories: Story[] = [
  {
    name: 'a set that is deleted while it is made and nobody is at work goes when somebody is, and nothing is made of it again',
    async tell(stage) {
      await stage.apply(grouped)
      await stage.until(
        'a first clique',
        () => stage.cliques('grouped'),
        cliques => cliques.length > 0,
      )
      await stage.abandonOperator()
      await stage.deleteSet('grouped')
      assert.ok((await stage.set('grouped'))?.metadata.deletionTimestamp, 'it waits for us')
      stage.writes.length = 0
      await stage.startOperator()
      await untilGone(stage, 'grouped')
      await untilNothingIsLeft(stage, 'grouped')
      assert.deepEqual(madeSince(stage), [])
    },
  },
  {
    name: 'a set whose children go first gets none of them back, whatever else happens to it',
    async tell(stage) {
      await stage.apply(grouped)
      await stage.untilReady('grouped', 10)
      await stage.untilAvailable('grouped', 1)
      await stage.untilQuiet()
      stage.writes.length = 0
      // Held by somebody else as well, so that there is time to do more to it.
      const held = 'example.com/held'
      const { finalizers = [] } = (await stage.set('grouped'))!.metadata
      await stage.patchSet('grouped', { metadata: { finalizers: [...finalizers, held] } })
      await stage.client.delete(
        resources.podCliqueSets,
        { name: 'grouped', namespace: stage.namespace },
        { propagationPolicy: 'Foreground' },
      )
      await stage.patchSet('grouped', { spec: { replicas: 3 } })
      await stage.restartOperator()
      await untilNoChildIsLeft(stage, 'grouped')
      await stage.untilQuiet()
      assert.deepEqual(madeSince(stage), [])
      await stage.patchSet('grouped', { metadata: { finalizers: null } })
      await untilGone(stage, 'grouped')
    },
  },
  {
    name: 'a namespace goes with its sets, and the operator lets it, without an error in its log',
    async tell(stage) {
      await stage.apply(grouped)
      await stage.apply(solo)
      await stage.untilReady('grouped', 10)
      await stage.untilReady('solo', 2)
      await stage.untilQuiet()
      stage.writes.length = 0
      await stage.client.delete(namespaces, { name: stage.namespace })
      await stage.until(
        'the namespace to be gone',
        () => stage.client.find(namespaces, { name: stage.namespace }),
        namespace => namespace === undefined,
      )
      await stage.untilQuiet()
      assert.deepEqual(stage.errors, [])
      // One attempt may be what tells; it is not repeated.
      const attempts = stage.writes.filter(({ verb, resource }) => verb === 'create' && resource === 'pods')
      assert.ok(attempts.length <= 12, `${attempts.length} attempts to create pods`)
    },
  },
  {
    name: 'a set that is deleted alone leaves its pods running, and a namesake takes its children over as they stand',
    async tell(stage) {
      await stage.apply(grouped)
      const before = await stage.untilReady('grouped', 10)
      await stage.untilAvailable('grouped', 1)
      await deleteAlone(stage, resources.podCliqueSets, 'grouped')
      await untilGone(stage, 'grouped')
      await stage.untilQuiet()
      assert.deepEqual(uids(await stage.untilReady('grouped', 10)), uids(before))
      const again = await stage.apply(grouped)
      const set = await stage.untilAvailable('grouped', 1)
      assert.equal(set.metadata.uid, again.metadata.uid)
      await stage.untilQuiet()
      assert.deepEqual(uids(await stage.pods('grouped')), uids(before), 'no pod was touched')
      assert.deepEqual((await stage.set('grouped'))?.status?.lastErrors ?? [], [])
      await stage.deleteSet('grouped')
      await untilGone(stage, 'grouped')
      await untilNothingIsLeft(stage, 'grouped')
    },
  },
  {
    name: 'a namesake that wants something else updates what it takes over, and lets go what it does not want',
    async tell(stage) {
      await stage.apply(solo.replace('replicas: 1', 'replicas: 2'))
      const before = await stage.untilReady('solo', 4)
      await stage.untilAvailable('solo', 2)
      await deleteAlone(stage, resources.podCliqueSets, 'solo')
      await untilGone(stage, 'solo')
      await stage.apply(solo.replace('web:1', 'web:2'))
      const after = await stage.until(
        'two pods of the new image',
        () => stage.pods('solo'),
        pods =>
          pods.length === 2 && pods.every(pod => pod.spec?.containers[0]?.image === 'registry.example/web:2'),
      )
      assert.ok(after.every(({ metadata }) => !uids(before).includes(metadata.uid)))
      await stage.untilAvailable('solo', 1)
      await stage.deleteSet('solo')
      await untilGone(stage, 'solo')
      await untilNothingIsLeft(stage, 'solo')
    },
  },
  {
    name: 'a scaling group that is deleted alone is made again and takes its members over as they stand',
    async tell(stage) {
      await stage.apply(grouped)
      const before = await stage.untilReady('grouped', 10)
      await stage.untilAvailable('grouped', 1)
      const former = uids(await stage.groups('grouped'))
      await deleteAlone(stage, resources.podCliqueScalingGroups, 'grouped-0-eng')
      await stage.until(
        'another group with its members',
        async () => ({ groups: await stage.groups('grouped'), cliques: await stage.cliques('grouped') }),
        ({ groups, cliques }) =>
          groups.length === 1 &&
          !former.includes(groups[0]!.metadata.uid) &&
          cliques.every(clique => clique.metadata.ownerReferences?.[0]?.controller),
      )
      await stage.untilAvailable('grouped', 1)
      await stage.untilQuiet()
      assert.deepEqual(uids(await stage.pods('grouped')), uids(before), 'no pod was touched')
    },
  },
]

async function deleteAlone<T extends KubeObject>(stage: Stage, resource: Resource<T>, name: string) {
  const ref = { name, namespace: stage.namespace }
  await stage.client.delete(resource, ref, { propagationPolicy: 'Orphan' })
}

function uids(objects: readonly Stored<KubeObject>[]): string[] {
  return objects.map(({ metadata }) => metadata.uid).toSorted()
}
