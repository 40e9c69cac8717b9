// SPDX-License-Identifier: Apache-2.0

// Updates during which a set has more replicas than it is asked for, so that none is missed.
import assert from 'node:assert/strict'
import { conditionType, label, type Pod } from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import { isReady, type Stage } from '../stage.ts'
import type { Story } from '../story.ts'
import { change, release } from './interrupted-updates.ts'
import { grouped, solo } from './manifests.ts'
import { editCliques, imageOf, uids, untilUpdated, withImage } from './updates.ts'

const newImage = 'registry.example/web:2'
const none = '{maxUnavailable: 0, maxSurge: 1, progressDeadlineSeconds: 1}'
const ofReplica = <T extends KubeObject>(objects: readonly T[], replica: number) =>
  objects.filter(({ metadata }) => metadata?.labels?.[label.setReplicaIndex] === String(replica))

/** `solo` with so many replicas of two pods each, none of which may be missed. */
async function running(stage: Stage, replicas: number): Promise<Stored<Pod>[]> {
  await stage.apply(solo.replace('replicas: 1', `replicas: ${replicas}\n  updateStrategy: ${none}`))
  const pods = await stage.untilReady('solo', 2 * replicas)
  await stage.untilAvailable('solo', replicas)
  return pods
}

function nowhere(stage: Stage): Promise<void> {
  return editCliques(stage, 'solo', cliques => {
    for (const { spec } of cliques) spec.podSpec.nodeSelector = { 'example.com/nowhere': 'true' }
    return cliques
  })
}

function somewhere(stage: Stage, image: string): Promise<void> {
  return editCliques(stage, 'solo', cliques => {
    for (const { spec } of cliques) delete spec.podSpec.nodeSelector
    return withImage('web', image)(cliques)
  })
}

async function untilStuck(stage: Stage): Promise<void> {
  await stage.until(
    'the update to be late',
    () => stage.set('solo'),
    set =>
      set?.status?.conditions?.some(
        ({ type, reason, message }) =>
          type === conditionType.updateProgressing &&
          reason === 'ProgressDeadlineExceeded' &&
          message.includes('Surge replica'),
      ) ?? false,
  )
  await stage.untilQuiet()
}

const kindsOfReplica: readonly Resource<KubeObject>[] = [
  resources.pods,
  resources.podCliques,
  resources.podCliqueScalingGroups,
  resources.podGangs,
  resources.services,
] as never

/** Kinds of which a replica has something. */
async function kindsIn(stage: Stage, set: string, replica: number): Promise<string[]> {
  const found = await Promise.all(
    kindsOfReplica.map(async resource => ({ resource, objects: await stage.list(resource, set) })),
  )
  const gang = `${set}-${replica}`
  return found
    .filter(
      ({ resource, objects }) =>
        ofReplica(objects, replica).length > 0 ||
        (resource.kind === 'PodGang' && objects.some(({ metadata }) => metadata?.name === gang)),
    )
    .map(({ resource }) => resource.kind)
}

function untilGone(stage: Stage, set: string, replica: number) {
  return stage.until(
    `replica ${replica} to be gone`,
    () => kindsIn(stage, set, replica),
    kinds => kinds.length === 0,
  )
}

export const surgeUpdateStories: Story[] = [
  {
    name: 'with a surge replica no replica is missed at any moment of an update, and it goes at its end',
    async tell(stage) {
      const before = await running(stage, 2)
      await editCliques(stage, 'solo', withImage('web', newImage))
      let fewest = 2
      const seen = new Set<string>()
      await stage.until(
        'the end of the update',
        async () => {
          const pods = (await stage.pods('solo')).filter(pod => !pod.metadata.deletionTimestamp)
          for (const { metadata } of pods) seen.add(metadata.labels?.[label.setReplicaIndex] ?? '')
          const serving = [0, 1, 2].filter(at => ofReplica(pods, at).filter(isReady).length === 2)
          fewest = Math.min(fewest, serving.length)
          return stage.set('solo')
        },
        set => set?.status?.updateProgress?.updateEndedAt !== undefined,
      )
      assert.equal(fewest, 2)
      assert.deepEqual([...seen].sort(), ['0', '1', '2'])
      await untilGone(stage, 'solo', 2)
      await untilUpdated(stage, 'solo')
      const after = await stage.untilReady('solo', 4)
      assert.ok(after.every(pod => imageOf(pod) === newImage && !uids(before).includes(pod.metadata.uid)))
      const { status } = await stage.untilAvailable('solo', 2)
      assert.equal(status?.updateProgress?.surgeReplicas, undefined)
      assert.deepEqual(await stage.writesOnAnotherLook('solo'), [])
    },
  },
  {
    name: 'a surge replica has everything that a replica has, and an operator that comes after goes on with it',
    async tell(stage) {
      const strategy = 'updateStrategy: {maxUnavailable: 0, maxSurge: 1}'
      await stage.apply(grouped.replace('replicas: 1', `replicas: 1\n  ${strategy}`))
      await stage.untilReady('grouped', 10)
      await stage.untilAvailable('grouped', 1)
      await editCliques(stage, 'grouped', withImage('router', 'registry.example/router:2'))
      await stage.until(
        'everything of replica 1',
        () => kindsIn(stage, 'grouped', 1),
        kinds => kinds.length === kindsOfReplica.length,
      )
      await stage.restartOperator()
      await untilUpdated(stage, 'grouped')
      await untilGone(stage, 'grouped', 1)
      await stage.untilReady('grouped', 10)
    },
  },
  {
    name: 'a template that cannot run costs nobody a pod, and is taken back without touching any',
    async tell(stage) {
      const before = await running(stage, 2)
      await nowhere(stage)
      await untilStuck(stage)
      const during = await stage.pods('solo')
      assert.deepEqual(uids(during.filter(isReady)), uids(before))
      assert.equal(ofReplica(during, 2).length, 2)
      await somewhere(stage, 'registry.example/web:1')
      await untilUpdated(stage, 'solo')
      await untilGone(stage, 'solo', 2)
      assert.deepEqual(uids(await stage.pods('solo')), uids(before))
    },
  },
  {
    name: 'a surge replica that cannot start follows the next change, and the others go straight to it',
    async tell(stage) {
      const before = await running(stage, 2)
      await nowhere(stage)
      await untilStuck(stage)
      await somewhere(stage, newImage)
      await untilUpdated(stage, 'solo')
      await untilGone(stage, 'solo', 2)
      const after = await stage.untilReady('solo', 4)
      assert.ok(after.every(pod => imageOf(pod) === newImage && !uids(before).includes(pod.metadata.uid)))
    },
  },
  {
    name: 'a set that grows over its surge replica keeps it as it is',
    async tell(stage) {
      await running(stage, 2)
      await change(stage, 2, true)
      const made = await stage.until(
        'the surge replica to be made',
        async () => ofReplica(await stage.pods('solo'), 2),
        pods => pods.length === 2,
      )
      await stage.patchSet('solo', { spec: { replicas: 3 } })
      await stage.until(
        'the update to end',
        async () => {
          await release(stage)
          return stage.set('solo')
        },
        set => set?.status?.updateProgress?.updateEndedAt !== undefined && set.status.updatedReplicas === 3,
      )
      await untilGone(stage, 'solo', 3)
      const after = await stage.untilReady('solo', 6)
      assert.deepEqual(uids(ofReplica(after, 2)), uids(made))
    },
  },
  {
    name: 'a set that is scaled in during an update goes on with fewer, and one that is deleted goes with everything',
    async tell(stage) {
      await running(stage, 3)
      await change(stage, 2, true)
      await stage.until(
        'the surge replica to be made',
        async () => ofReplica(await stage.pods('solo'), 3),
        pods => pods.length === 2,
      )
      await stage.patchSet('solo', { spec: { replicas: 1 } })
      await untilGone(stage, 'solo', 3)
      await untilGone(stage, 'solo', 2)
      await stage.until(
        'the update to end',
        async () => {
          await release(stage)
          return stage.set('solo')
        },
        set => set?.status?.updateProgress?.updateEndedAt !== undefined && set.status.updatedReplicas === 1,
      )
      await untilGone(stage, 'solo', 1)
      await change(stage, 3, true)
      await stage.until(
        'the surge replica to be made again',
        async () => ofReplica(await stage.pods('solo'), 1),
        pods => pods.length === 2,
      )
      await stage.deleteSet('solo')
      for (const replica of [0, 1]) await untilGone(stage, 'solo', replica)
    },
  },
]
