// SPDX-License-Identifier: Apache-2.0

// Updates with interruptions. A scheduling gate in the new template holds back its pods, so that the state of the
// update is known.
import assert from 'node:assert/strict'
import { label, type Pod } from '@grove/api'
import type { Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import { type Harness, isReady } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { report } from './gang-termination.ts'
import { solo } from './manifests.ts'
import { editCliques, imageOf, uids, untilUpdated, withImage } from './updates.ts'

const name = 'solo'
const hold = 'example.com/hold'
const image = (version: number) => `registry.example/web:${version}`
const indexOf = (pod: Pod) => pod.metadata.labels?.[label.podIndex]
const replicaOf = (pod: Pod) => pod.metadata.labels?.[label.setReplicaIndex]

async function running(harness: Harness, replicas: number): Promise<Stored<Pod>[]> {
  await harness.apply(solo.replace('replicas: 1', `replicas: ${replicas}`))
  const pods = await harness.untilReady(name, 2 * replicas)
  await harness.untilAvailable(name, replicas)
  return pods
}

export function change(harness: Harness, version: number, gated: boolean): Promise<void> {
  return editCliques(harness, name, cliques => {
    for (const { spec } of cliques) spec.podSpec.schedulingGates = gated ? [{ name: hold }] : []
    return withImage('web', image(version))(cliques)
  })
}

/** Removes the gate of the template from all pods or from some of them. */
export async function release(harness: Harness, isMeant: (pod: Pod) => boolean = () => true): Promise<void> {
  for (const { metadata, spec } of (await harness.pods(name)).filter(isMeant)) {
    if (metadata.deletionTimestamp || !spec?.schedulingGates?.some(gate => gate.name === hold)) continue
    const patch = { spec: { schedulingGates: [{ name: hold, $patch: 'delete' }] } }
    await harness.client.patch(
      resources.pods,
      { name: metadata.name, namespace: harness.namespace },
      { strategic: patch },
    )
  }
}

async function updating(harness: Harness): Promise<number[]> {
  const { currentlyUpdating = [] } = (await harness.set(name))?.status?.updateProgress ?? {}
  return currentlyUpdating.map(({ replicaIndex }) => replicaIndex)
}

export const interruptedUpdateScenarios: Scenario[] = [
  {
    name: 'updates unready replicas first, continues without a replica that is scaled in, and does not restart a new one',
    async run(harness) {
      const before = await running(harness, 3)
      for (const pod of before) if (replicaOf(pod) === '2') await report(harness, pod, false)
      await harness.until(
        'replica 2 to be unavailable',
        () => harness.set(name),
        set => set?.status?.availableReplicas === 2,
      )
      await change(harness, 2, true)
      const turn = (replica: number) =>
        harness.until(
          `replica ${replica} to be selected`,
          () => updating(harness),
          ([one]) => one === replica,
        )
      await turn(2)
      await harness.patchSet(name, { spec: { replicas: 2 } })
      await turn(0)
      await harness.patchSet(name, { spec: { replicas: 3 } })
      const made = await harness.until(
        'replica 2 to be recreated',
        async () =>
          (await harness.pods(name)).filter(pod => replicaOf(pod) === '2' && imageOf(pod) === image(2)),
        pods => pods.length === 2 && pods.every(pod => !uids(before).includes(pod.metadata.uid)),
      )
      const turns: number[] = []
      await harness.until(
        'the update to end',
        async () => {
          await release(harness)
          const now = await updating(harness)
          assert.ok(now.length <= 1, 'one replica at a time')
          if (now[0] !== undefined && now[0] !== turns.at(-1)) turns.push(now[0])
          return harness.set(name)
        },
        set => set?.status?.updateProgress?.updateEndedAt !== undefined && set.status.updatedReplicas === 3,
      )
      assert.deepEqual(
        turns.filter(turn => turn !== 2),
        [0, 1],
      )
      const after = await harness.untilReady(name, 6)
      for (const pod of after) assert.equal(imageOf(pod), image(2))
      for (const uid of uids(made)) assert.ok(uids(after).includes(uid), 'the replica was up to date already')
    },
  },
  {
    name: 'switching to OnDelete ends an update, and the next change replaces the remaining pods',
    async run(harness) {
      const before = await running(harness, 2)
      await change(harness, 2, true)
      await harness.until(
        'the first new pod',
        () => harness.pods(name),
        pods => pods.some(pod => imageOf(pod) === image(2)),
      )
      await harness.patchSet(name, { spec: { updateStrategy: { type: 'OnDelete' } } })
      await harness.until(
        'set and cliques to report the end of the update',
        async () => ({ set: await harness.set(name), cliques: await harness.cliques(name) }),
        ({ set, cliques }) =>
          set?.status?.updateProgress?.updateEndedAt !== undefined &&
          set.status.updateProgress.currentlyUpdating === undefined &&
          cliques.every(
            ({ status }) =>
              !status?.updateProgress ||
              (status.updateProgress.updateEndedAt !== undefined &&
                status.updateProgress.readyPodsSelectedToUpdate === undefined),
          ) &&
          // Gang termination is active again.
          cliques.every(({ status }) =>
            status?.conditions?.some(one => one.type === 'MinAvailableBreached' && one.status !== 'Unknown'),
          ),
      )
      await release(harness)
      const left = await harness.untilReady(name, 4)
      assert.equal(left.filter(pod => uids(before).includes(pod.metadata.uid)).length, 3, 'one was replaced')
      await harness.patchSet(name, { spec: { updateStrategy: { type: 'RollingRecreate' } } })
      await harness.untilQuiet()
      assert.deepEqual(
        uids(await harness.pods(name)),
        uids(left),
        'a changed strategy alone starts no update',
      )
      await change(harness, 3, false)
      await untilUpdated(harness, name)
      const after = await harness.untilReady(name, 4)
      assert.ok(after.every(pod => isReady(pod) && imageOf(pod) === image(3)))
    },
  },
  {
    name: 'an update continues and ends although the replacement of a lost pod cannot be scheduled',
    async run(harness) {
      await harness.apply(solo.replace('replicas: 2', 'replicas: 4\n          minAvailable: 1'))
      await harness.untilReady(name, 4)
      await harness.untilAvailable(name, 1)
      await change(harness, 2, true)
      await harness.until(
        'the first new pod',
        () => harness.pods(name),
        pods => pods.some(pod => imageOf(pod) === image(2)),
      )
      const lost = (await harness.pods(name)).find(
        pod => imageOf(pod) === image(1) && !pod.metadata.deletionTimestamp,
      )!
      const isOfLost = (pod: Pod) => indexOf(pod) === indexOf(lost)
      await harness.deletePod(lost.metadata.name)
      await harness.until(
        'its replacement',
        () => harness.pods(name),
        pods => pods.some(pod => isOfLost(pod) && imageOf(pod) === image(2)),
      )
      // The scenario never removes the gate of the replacement. For the operator it is an unschedulable pod.
      await harness.until(
        'the update to end',
        async () => {
          await release(harness, pod => !isOfLost(pod))
          return harness.set(name)
        },
        set => set?.status?.updateProgress?.updateEndedAt !== undefined,
      )
      const after = (await harness.pods(name)).filter(({ metadata }) => !metadata.deletionTimestamp)
      for (const pod of after) assert.equal(imageOf(pod), image(2))
      assert.deepEqual(after.filter(pod => !isReady(pod)).map(indexOf), [indexOf(lost)])
    },
  },
  {
    name: 'a clique below its minimum in a paused update is terminated',
    async run(harness) {
      await harness.apply(solo.replace('template:', 'template:\n    terminationDelay: 2s'))
      await harness.untilReady(name, 2)
      await harness.untilAvailable(name, 1)
      const [before] = await harness.cliques(name)
      await change(harness, 2, true)
      await harness.until(
        'the first new pod',
        () => harness.pods(name),
        pods => pods.some(pod => imageOf(pod) === image(2)),
      )
      await harness.patchSet(name, { spec: { updateStrategy: { paused: true } } })
      await harness.until(
        'another clique',
        () => harness.cliques(name),
        found => found.length === 1 && found[0]!.metadata.uid !== before!.metadata.uid,
      )
      await harness.patchSet(name, { spec: { updateStrategy: { paused: false } } })
      await harness.until(
        'the update to end',
        async () => {
          await release(harness)
          return harness.set(name)
        },
        set => set?.status?.updateProgress?.updateEndedAt !== undefined && set.status.updatedReplicas === 1,
      )
      for (const pod of await harness.untilReady(name, 2)) assert.equal(imageOf(pod), image(2))
    },
  },
]
