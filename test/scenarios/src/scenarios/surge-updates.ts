// SPDX-License-Identifier: Apache-2.0

// Updates with surge replicas: the set has more replicas than requested, so that no replica is unavailable.
import assert from 'node:assert/strict'
import { conditionType, label, type Pod } from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import { type Harness, isReady } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { change, release } from './interrupted-updates.ts'
import { grouped, solo } from './manifests.ts'
import { editCliques, imageOf, uids, untilUpdated, withImage } from './updates.ts'

const newImage = 'registry.example/web:2'
const none = '{maxUnavailable: 0, maxSurge: 1, progressDeadlineSeconds: 1}'
const ofReplica = <T extends KubeObject>(objects: readonly T[], replica: number) =>
  objects.filter(({ metadata }) => metadata?.labels?.[label.setReplicaIndex] === String(replica))

/** `solo` with this number of replicas of two pods and maxUnavailable 0. */
async function running(harness: Harness, replicas: number): Promise<Stored<Pod>[]> {
  await harness.apply(solo.replace('replicas: 1', `replicas: ${replicas}\n  updateStrategy: ${none}`))
  const pods = await harness.untilReady('solo', 2 * replicas)
  await harness.untilAvailable('solo', replicas)
  return pods
}

function nowhere(harness: Harness): Promise<void> {
  return editCliques(harness, 'solo', cliques => {
    for (const { spec } of cliques) spec.podSpec.nodeSelector = { 'example.com/nowhere': 'true' }
    return cliques
  })
}

function somewhere(harness: Harness, image: string): Promise<void> {
  return editCliques(harness, 'solo', cliques => {
    for (const { spec } of cliques) delete spec.podSpec.nodeSelector
    return withImage('web', image)(cliques)
  })
}

async function untilStuck(harness: Harness): Promise<void> {
  await harness.until(
    'the update to miss its deadline',
    () => harness.set('solo'),
    set =>
      set?.status?.conditions?.some(
        ({ type, reason, message }) =>
          type === conditionType.updateProgressing &&
          reason === 'ProgressDeadlineExceeded' &&
          message.includes('Surge replica'),
      ) ?? false,
  )
  await harness.untilQuiet()
}

const kindsOfReplica: readonly Resource<KubeObject>[] = [
  resources.pods,
  resources.podCliques,
  resources.podCliqueScalingGroups,
  resources.podGangs,
  resources.services,
] as never

/** The kinds of objects of a replica. */
async function kindsIn(harness: Harness, set: string, replica: number): Promise<string[]> {
  const found = await Promise.all(
    kindsOfReplica.map(async resource => ({ resource, objects: await harness.list(resource, set) })),
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

function untilGone(harness: Harness, set: string, replica: number) {
  return harness.until(
    `replica ${replica} to be deleted`,
    () => kindsIn(harness, set, replica),
    kinds => kinds.length === 0,
  )
}

export const surgeUpdateScenarios: Scenario[] = [
  {
    name: 'with a surge replica, all replicas are available during the whole update, and the surge replica is deleted at its end',
    async run(harness) {
      const before = await running(harness, 2)
      await editCliques(harness, 'solo', withImage('web', newImage))
      let fewest = 2
      const seen = new Set<string>()
      await harness.until(
        'the end of the update',
        async () => {
          const pods = (await harness.pods('solo')).filter(pod => !pod.metadata.deletionTimestamp)
          for (const { metadata } of pods) seen.add(metadata.labels?.[label.setReplicaIndex] ?? '')
          const serving = [0, 1, 2].filter(at => ofReplica(pods, at).filter(isReady).length === 2)
          fewest = Math.min(fewest, serving.length)
          return harness.set('solo')
        },
        set => set?.status?.updateProgress?.updateEndedAt !== undefined,
      )
      assert.equal(fewest, 2)
      assert.deepEqual([...seen].sort(), ['0', '1', '2'])
      await untilGone(harness, 'solo', 2)
      await untilUpdated(harness, 'solo')
      const after = await harness.untilReady('solo', 4)
      assert.ok(after.every(pod => imageOf(pod) === newImage && !uids(before).includes(pod.metadata.uid)))
      const { status } = await harness.untilAvailable('solo', 2)
      assert.equal(status?.updateProgress?.surgeReplicas, undefined)
      assert.deepEqual(await harness.writesOfAnotherReconcile('solo'), [])
    },
  },
  {
    name: 'a surge replica has all objects of a replica, and a restarted operator continues with it',
    async run(harness) {
      const strategy = 'updateStrategy: {maxUnavailable: 0, maxSurge: 1}'
      await harness.apply(grouped.replace('replicas: 1', `replicas: 1\n  ${strategy}`))
      await harness.untilReady('grouped', 10)
      await harness.untilAvailable('grouped', 1)
      await editCliques(harness, 'grouped', withImage('router', 'registry.example/router:2'))
      await harness.until(
        'all objects of replica 1',
        () => kindsIn(harness, 'grouped', 1),
        kinds => kinds.length === kindsOfReplica.length,
      )
      await harness.restartOperator()
      await untilUpdated(harness, 'grouped')
      await untilGone(harness, 'grouped', 1)
      await harness.untilReady('grouped', 10)
    },
  },
  {
    name: 'a template that cannot run disrupts no pod, and reverting it restarts no pod',
    async run(harness) {
      const before = await running(harness, 2)
      await nowhere(harness)
      await untilStuck(harness)
      const during = await harness.pods('solo')
      assert.deepEqual(uids(during.filter(isReady)), uids(before))
      assert.equal(ofReplica(during, 2).length, 2)
      await somewhere(harness, 'registry.example/web:1')
      await untilUpdated(harness, 'solo')
      await untilGone(harness, 'solo', 2)
      assert.deepEqual(uids(await harness.pods('solo')), uids(before))
    },
  },
  {
    name: 'a surge replica that cannot start gets the next change, and the other replicas skip the broken template',
    async run(harness) {
      const before = await running(harness, 2)
      await nowhere(harness)
      await untilStuck(harness)
      await somewhere(harness, newImage)
      await untilUpdated(harness, 'solo')
      await untilGone(harness, 'solo', 2)
      const after = await harness.untilReady('solo', 4)
      assert.ok(after.every(pod => imageOf(pod) === newImage && !uids(before).includes(pod.metadata.uid)))
    },
  },
  {
    name: 'a set that is scaled out over its surge replica keeps it unchanged',
    async run(harness) {
      await running(harness, 2)
      await change(harness, 2, true)
      const made = await harness.until(
        'the surge replica to be created',
        async () => ofReplica(await harness.pods('solo'), 2),
        pods => pods.length === 2,
      )
      await harness.patchSet('solo', { spec: { replicas: 3 } })
      await harness.until(
        'the update to end',
        async () => {
          await release(harness)
          return harness.set('solo')
        },
        set => set?.status?.updateProgress?.updateEndedAt !== undefined && set.status.updatedReplicas === 3,
      )
      await untilGone(harness, 'solo', 3)
      const after = await harness.untilReady('solo', 6)
      assert.deepEqual(uids(ofReplica(after, 2)), uids(made))
    },
  },
  {
    name: 'scale-in during an update continues with fewer replicas, and deletion of the set deletes all objects',
    async run(harness) {
      await running(harness, 3)
      await change(harness, 2, true)
      await harness.until(
        'the surge replica to be created',
        async () => ofReplica(await harness.pods('solo'), 3),
        pods => pods.length === 2,
      )
      await harness.patchSet('solo', { spec: { replicas: 1 } })
      await untilGone(harness, 'solo', 3)
      await untilGone(harness, 'solo', 2)
      await harness.until(
        'the update to end',
        async () => {
          await release(harness)
          return harness.set('solo')
        },
        set => set?.status?.updateProgress?.updateEndedAt !== undefined && set.status.updatedReplicas === 1,
      )
      await untilGone(harness, 'solo', 1)
      await change(harness, 3, true)
      await harness.until(
        'the surge replica to be recreated',
        async () => ofReplica(await harness.pods('solo'), 1),
        pods => pods.length === 2,
      )
      await harness.deleteSet('solo')
      for (const replica of [0, 1]) await untilGone(harness, 'solo', replica)
    },
  },
]
