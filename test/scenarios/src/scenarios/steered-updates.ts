// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { conditionType, label, type Pod } from '@grove/api'
import type { Stored } from '@grove/kube'
import { type Harness, isReady } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { solo } from './manifests.ts'
import { editCliques, imageOf, uids, untilUpdated, withImage } from './updates.ts'

const ofReplica = (pods: readonly Stored<Pod>[], replica: number) =>
  pods.filter(pod => pod.metadata.labels?.[label.setReplicaIndex] === String(replica))
const newImage = 'registry.example/web:2'

/** Gives replaced pods time to terminate. */
const living = async (harness: Harness) =>
  (await harness.pods('solo')).filter(({ metadata }) => metadata.deletionTimestamp === undefined)

/** Starts a set with an update strategy and this number of replicas of two pods, and waits until it is ready. */
async function running(harness: Harness, replicas: number, strategy: string): Promise<Stored<Pod>[]> {
  await harness.apply(solo.replace('replicas: 1', `replicas: ${replicas}\n  updateStrategy: ${strategy}`))
  const pods = await harness.untilReady('solo', 2 * replicas)
  await harness.untilAvailable('solo', replicas)
  return pods
}

function untilSaid(harness: Harness, status: string, reason: string) {
  return harness.until(
    `the update to be ${reason}`,
    () => harness.set('solo'),
    set =>
      (set?.status?.conditions ?? []).some(
        one => one.type === conditionType.updateProgressing && one.status === status && one.reason === reason,
      ),
  )
}

async function untilAllNew(harness: Harness): Promise<void> {
  await untilUpdated(harness, 'solo')
  for (const pod of await living(harness)) assert.equal(imageOf(pod), newImage)
  await untilSaid(harness, 'False', 'UpdateComplete')
}

export const steeredUpdateScenarios: Scenario[] = [
  {
    name: 'a paused update stops, and continues when it is resumed',
    async run(harness) {
      const before = await running(harness, 2, '{paused: true}')
      await editCliques(harness, 'solo', withImage('web', newImage))
      await untilSaid(harness, 'Unknown', 'Paused')
      await harness.untilQuiet()
      assert.deepEqual(uids(await harness.pods('solo')), uids(before))
      await harness.patchSet('solo', { spec: { updateStrategy: { paused: false } } })
      await untilAllNew(harness)
    },
  },
  {
    name: 'replicas below the partition keep their template, also for recreated pods',
    async run(harness) {
      const before = await running(harness, 2, '{partition: 1}')
      await editCliques(harness, 'solo', withImage('web', newImage))
      await untilSaid(harness, 'False', 'Partitioned')
      const held = ofReplica(before, 0)
      await harness.deletePod(held[0]!.metadata.name)
      const after = await harness.until(
        'the pod to be recreated',
        () => harness.pods('solo'),
        pods => pods.length === 4 && pods.every(isReady) && !uids(pods).includes(held[0]!.metadata.uid),
      )
      assert.deepEqual(ofReplica(after, 0).map(imageOf), ['registry.example/web:1', 'registry.example/web:1'])
      assert.deepEqual(ofReplica(after, 1).map(imageOf), [newImage, newImage])
      assert.ok(uids(after).includes(held[1]!.metadata.uid))
      await harness.patchSet('solo', { spec: { updateStrategy: { partition: 0 } } })
      await untilAllNew(harness)
    },
  },
  {
    name: 'with maxUnavailable 2, at most two replicas are updated at the same time',
    async run(harness) {
      await running(harness, 4, '{maxUnavailable: 2}')
      await editCliques(harness, 'solo', withImage('web', newImage))
      let most = 0
      await harness.until(
        'the end of the update',
        () => harness.set('solo'),
        set => {
          most = Math.max(most, set?.status?.updateProgress?.currentlyUpdating?.length ?? 0)
          return set?.status?.updateProgress?.updateEndedAt !== undefined
        },
      )
      assert.equal(most, 2)
      await untilAllNew(harness)
    },
  },
  {
    name: 'an update that cannot progress deletes one pod and reports this; reverting it restarts no other pod',
    async run(harness) {
      const before = await running(harness, 2, '{progressDeadlineSeconds: 1}')
      await editCliques(harness, 'solo', cliques => {
        for (const { spec } of cliques) spec.podSpec.nodeSelector = { 'example.com/nowhere': 'true' }
        return cliques
      })
      await untilSaid(harness, 'False', 'ProgressDeadlineExceeded')
      await harness.untilQuiet()
      const kept = uids((await living(harness)).filter(pod => uids(before).includes(pod.metadata.uid)))
      assert.equal(kept.length, 3, 'exactly one pod was deleted')
      await editCliques(harness, 'solo', cliques => {
        for (const { spec } of cliques) delete spec.podSpec.nodeSelector
        return cliques
      })
      await untilUpdated(harness, 'solo')
      const after = await harness.untilReady('solo', 4)
      for (const uid of kept)
        assert.ok(uids(after).includes(uid), 'pods that were not replaced are unchanged')
    },
  },
]
