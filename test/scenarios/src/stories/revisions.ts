// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { type ControllerRevision, label } from '@grove/api'
import type { Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'
import { solo } from './manifests.ts'
import { editCliques, uids, untilUpdated, withImage } from './updates.ts'

const name = 'solo'
const image = (version: number) => `registry.example/web:${version}`

async function untilRecorded(
  stage: Stage,
  numbers: readonly number[],
): Promise<Stored<ControllerRevision>[]> {
  return stage.until(
    `revisions ${numbers.join(', ')} to be on record`,
    async () => {
      const found = await stage.list(resources.controllerRevisions, name)
      return found.sort((a, b) => (a.revision ?? 0) - (b.revision ?? 0))
    },
    found => found.map(one => one.revision).join() === numbers.join(),
  )
}

export const revisionStories: Story[] = [
  {
    name: 'each template of a set is recorded once; going back makes the old one the newest',
    async tell(stage) {
      await stage.apply(solo)
      await stage.untilReady(name, 2)
      const [first] = await untilRecorded(stage, [1])
      const set = await stage.untilAvailable(name, 1)
      assert.equal(first!.metadata.labels?.[label.generationHash], set.status?.currentGenerationHash)
      assert.equal(first!.metadata.ownerReferences?.[0]?.uid, set.metadata.uid)
      await editCliques(stage, name, withImage('web', image(2)))
      await untilUpdated(stage, name)
      await untilRecorded(stage, [1, 2])
      await editCliques(stage, name, withImage('web', image(1)))
      await untilUpdated(stage, name)
      const [second, again] = await untilRecorded(stage, [2, 3])
      assert.equal(again!.metadata.uid, first!.metadata.uid)
      await stage.untilQuiet()
      stage.writes.length = 0
      // Counts, order and notation are no revision, and cost the history nothing.
      await editCliques(stage, name, cliques => {
        cliques[0]!.spec.replicas = 3
        cliques[0]!.spec.podSpec.restartPolicy = 'Always'
        return cliques
      })
      await stage.until(
        'the edit to be seen',
        () => stage.set(name),
        one => one?.status?.observedGeneration === one?.metadata.generation,
      )
      await stage.untilQuiet()
      assert.deepEqual(
        stage.writes.filter(({ resource }) => resource.startsWith('controllerrevisions')),
        [],
      )
      // What somebody takes away comes back where it is still known: the current one.
      await stage.client.delete(resources.controllerRevisions, {
        name: again!.metadata.name,
        namespace: stage.namespace,
      })
      const [kept, made] = await untilRecorded(stage, [2, 3])
      assert.equal(kept!.metadata.uid, second!.metadata.uid)
      assert.notEqual(made!.metadata.uid, again!.metadata.uid)
    },
  },
  {
    name: 'the history ends at ten revisions, and spares those that pods live by',
    async tell(stage) {
      await stage.apply(solo.replace('replicas: 1', 'replicas: 1\n  updateStrategy: {type: OnDelete}'))
      const before = await stage.untilReady(name, 2)
      await untilRecorded(stage, [1])
      for (let version = 2; version <= 12; version++) {
        await editCliques(stage, name, withImage('web', image(version)))
        await stage.until(
          `version ${version} to be recorded`,
          () => stage.list(resources.controllerRevisions, name),
          found => found.some(one => one.revision === version),
        )
      }
      // The pods were never deleted, so they are of the first.
      await untilRecorded(stage, [1, 4, 5, 6, 7, 8, 9, 10, 11, 12])
      assert.deepEqual(uids(await stage.pods(name)), uids(before))
      await stage.deleteSet(name)
      await stage.until(
        'the history to go with its set',
        () => stage.list(resources.controllerRevisions, name),
        found => found.length === 0,
      )
    },
  },
]
