// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { type ControllerRevision, label } from '@grove/api'
import type { Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { solo } from './manifests.ts'
import { editCliques, uids, untilUpdated, withImage } from './updates.ts'

const name = 'solo'
const image = (version: number) => `registry.example/web:${version}`

async function untilRecorded(
  harness: Harness,
  numbers: readonly number[],
): Promise<Stored<ControllerRevision>[]> {
  return harness.until(
    `revisions ${numbers.join(', ')} to be recorded`,
    async () => {
      const found = await harness.list(resources.controllerRevisions, name)
      return found.sort((a, b) => (a.revision ?? 0) - (b.revision ?? 0))
    },
    found => found.map(one => one.revision).join() === numbers.join(),
  )
}

export const revisionScenarios: Scenario[] = [
  {
    name: 'records each template of a set once, and makes the old revision the newest after a rollback',
    async run(harness) {
      await harness.apply(solo)
      await harness.untilReady(name, 2)
      const [first] = await untilRecorded(harness, [1])
      const set = await harness.untilAvailable(name, 1)
      assert.equal(first!.metadata.labels?.[label.generationHash], set.status?.currentGenerationHash)
      assert.equal(first!.metadata.ownerReferences?.[0]?.uid, set.metadata.uid)
      await editCliques(harness, name, withImage('web', image(2)))
      await untilUpdated(harness, name)
      await untilRecorded(harness, [1, 2])
      await editCliques(harness, name, withImage('web', image(1)))
      await untilUpdated(harness, name)
      const [second, again] = await untilRecorded(harness, [2, 3])
      assert.equal(again!.metadata.uid, first!.metadata.uid)
      await harness.untilQuiet()
      harness.writes.length = 0
      // Counts, order and notation create no revision.
      await editCliques(harness, name, cliques => {
        cliques[0]!.spec.replicas = 3
        cliques[0]!.spec.podSpec.restartPolicy = 'Always'
        return cliques
      })
      await harness.until(
        'the edit to be observed',
        () => harness.set(name),
        one => one?.status?.observedGeneration === one?.metadata.generation,
      )
      await harness.untilQuiet()
      assert.deepEqual(
        harness.writes.filter(({ resource }) => resource.startsWith('controllerrevisions')),
        [],
      )
      // The operator recreates a deleted record only for the current revision.
      await harness.client.delete(resources.controllerRevisions, {
        name: again!.metadata.name,
        namespace: harness.namespace,
      })
      const [kept, made] = await untilRecorded(harness, [2, 3])
      assert.equal(kept!.metadata.uid, second!.metadata.uid)
      assert.notEqual(made!.metadata.uid, again!.metadata.uid)
    },
  },
  {
    name: 'keeps ten revisions, and the older ones that pods still use',
    async run(harness) {
      await harness.apply(solo.replace('replicas: 1', 'replicas: 1\n  updateStrategy: {type: OnDelete}'))
      const before = await harness.untilReady(name, 2)
      await untilRecorded(harness, [1])
      for (let version = 2; version <= 12; version++) {
        await editCliques(harness, name, withImage('web', image(version)))
        await harness.until(
          `version ${version} to be recorded`,
          () => harness.list(resources.controllerRevisions, name),
          found => found.some(one => one.revision === version),
        )
      }
      // No pod was deleted, so all pods have the first revision.
      await untilRecorded(harness, [1, 4, 5, 6, 7, 8, 9, 10, 11, 12])
      assert.deepEqual(uids(await harness.pods(name)), uids(before))
      await harness.deleteSet(name)
      await harness.until(
        'the history to be deleted with its set',
        () => harness.list(resources.controllerRevisions, name),
        found => found.length === 0,
      )
    },
  },
]
