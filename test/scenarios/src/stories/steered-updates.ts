// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { conditionType, label, type Pod } from '@grove/api'
import type { Stored } from '@grove/kube'
import { isReady, type Stage } from '../stage.ts'
import type { Story } from '../story.ts'
import { solo } from './manifests.ts'
import { editCliques, imageOf, uids, untilUpdated, withImage } from './updates.ts'

const ofReplica = (pods: readonly Stored<Pod>[], replica: number) =>
  pods.filter(pod => pod.metadata.labels?.[label.setReplicaIndex] === String(replica))
const newImage = 'registry.example/web:2'

/** Those that are replaced may take their time to go. */
const living = async (stage: Stage) =>
  (await stage.pods('solo')).filter(({ metadata }) => metadata.deletionTimestamp === undefined)

/** A set of so many replicas of two pods, with a strategy of its own, up and running. */
async function running(stage: Stage, replicas: number, strategy: string): Promise<Stored<Pod>[]> {
  await stage.apply(solo.replace('replicas: 1', `replicas: ${replicas}\n  updateStrategy: ${strategy}`))
  const pods = await stage.untilReady('solo', 2 * replicas)
  await stage.untilAvailable('solo', replicas)
  return pods
}

function untilSaid(stage: Stage, status: string, reason: string) {
  return stage.until(
    `the update to be ${reason}`,
    () => stage.set('solo'),
    set =>
      (set?.status?.conditions ?? []).some(
        one => one.type === conditionType.updateProgressing && one.status === status && one.reason === reason,
      ),
  )
}

async function untilAllNew(stage: Stage): Promise<void> {
  await untilUpdated(stage, 'solo')
  for (const pod of await living(stage)) assert.equal(imageOf(pod), newImage)
  await untilSaid(stage, 'False', 'UpdateComplete')
}

export const steeredUpdateStories: Story[] = [
  {
    name: 'a paused update stands still, and goes on when it is resumed',
    async tell(stage) {
      const before = await running(stage, 2, '{paused: true}')
      await editCliques(stage, 'solo', withImage('web', newImage))
      await untilSaid(stage, 'Unknown', 'Paused')
      await stage.untilQuiet()
      assert.deepEqual(uids(await stage.pods('solo')), uids(before))
      await stage.patchSet('solo', { spec: { updateStrategy: { paused: false } } })
      await untilAllNew(stage)
    },
  },
  {
    name: 'replicas below the partition keep their template, also for pods that are made anew',
    async tell(stage) {
      const before = await running(stage, 2, '{partition: 1}')
      await editCliques(stage, 'solo', withImage('web', newImage))
      await untilSaid(stage, 'False', 'Partitioned')
      const held = ofReplica(before, 0)
      await stage.deletePod(held[0]!.metadata.name)
      const after = await stage.until(
        'the pod to come back',
        () => stage.pods('solo'),
        pods => pods.length === 4 && pods.every(isReady) && !uids(pods).includes(held[0]!.metadata.uid),
      )
      assert.deepEqual(ofReplica(after, 0).map(imageOf), ['registry.example/web:1', 'registry.example/web:1'])
      assert.deepEqual(ofReplica(after, 1).map(imageOf), [newImage, newImage])
      assert.ok(uids(after).includes(held[1]!.metadata.uid))
      await stage.patchSet('solo', { spec: { updateStrategy: { partition: 0 } } })
      await untilAllNew(stage)
    },
  },
  {
    name: 'with room for two, two replicas are updated at the same time and never three',
    async tell(stage) {
      await running(stage, 4, '{maxUnavailable: 2}')
      await editCliques(stage, 'solo', withImage('web', newImage))
      let most = 0
      await stage.until(
        'the end of the update',
        () => stage.set('solo'),
        set => {
          most = Math.max(most, set?.status?.updateProgress?.currentlyUpdating?.length ?? 0)
          return set?.status?.updateProgress?.updateEndedAt !== undefined
        },
      )
      assert.equal(most, 2)
      await untilAllNew(stage)
    },
  },
  {
    name: 'an update that cannot get on takes one pod, says so, and taken back leaves the others alone',
    async tell(stage) {
      const before = await running(stage, 2, '{progressDeadlineSeconds: 1}')
      await editCliques(stage, 'solo', cliques => {
        for (const { spec } of cliques) spec.podSpec.nodeSelector = { 'example.com/nowhere': 'true' }
        return cliques
      })
      await untilSaid(stage, 'False', 'ProgressDeadlineExceeded')
      await stage.untilQuiet()
      const kept = uids((await living(stage)).filter(pod => uids(before).includes(pod.metadata.uid)))
      assert.equal(kept.length, 3, 'one pod was taken, and no other')
      await editCliques(stage, 'solo', cliques => {
        for (const { spec } of cliques) delete spec.podSpec.nodeSelector
        return cliques
      })
      await untilUpdated(stage, 'solo')
      const after = await stage.untilReady('solo', 4)
      for (const uid of kept) assert.ok(uids(after).includes(uid), 'what was never replaced stays')
    },
  },
]
