// SPDX-License-Identifier: Apache-2.0

// Ways for a set to go other than by itself, while all is well: in the middle of its making, with nobody at work, with
// its namespace, or alone.
import assert from 'node:assert/strict'
import { defineResource, type KubeObject } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'
import { untilNothingIsLeft } from './deletion.ts'
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
      await untilNothingIsLeft(stage, 'grouped')
      await stage.untilQuiet()
      assert.deepEqual(madeSince(stage), [])
      await stage.patchSet('grouped', { metadata: { finalizers: null } })
      await untilGone(stage, 'grouped')
    },
  },
  {
    name: 'a namespace goes with its sets, and the operator lets it',
    async tell(stage) {
      await stage.apply(grouped)
      await stage.apply(solo)
      await stage.untilReady('grouped', 10)
      await stage.untilReady('solo', 2)
      await stage.client.delete(namespaces, { name: stage.namespace })
      await stage.until(
        'the namespace to be gone',
        () => stage.client.find(namespaces, { name: stage.namespace }),
        namespace => namespace === undefined,
      )
      await stage.untilQuiet()
    },
  },
  {
    name: 'a set that is deleted alone leaves its pods running, and its children stand in the way of a namesake',
    async tell(stage) {
      await stage.apply(grouped)
      const before = await stage.untilReady('grouped', 10)
      await stage.untilAvailable('grouped', 1)
      await stage.client.delete(
        resources.podCliqueSets,
        { name: 'grouped', namespace: stage.namespace },
        { propagationPolicy: 'Orphan' },
      )
      await untilGone(stage, 'grouped')
      await stage.untilQuiet()
      const after = await stage.untilReady('grouped', 10)
      assert.deepEqual(
        after.map(({ metadata }) => metadata.uid).toSorted(),
        before.map(({ metadata }) => metadata.uid).toSorted(),
      )
      await stage.apply(grouped)
      await stage.until(
        'the namesake to say what stands in its way',
        () => stage.set('grouped'),
        set => /not controlled by this PodCliqueSet/.test(JSON.stringify(set?.status?.lastErrors ?? [])),
      )
      assert.equal((await stage.pods('grouped')).length, 10)
      await stage.deleteSet('grouped')
      await untilGone(stage, 'grouped')
    },
  },
]
