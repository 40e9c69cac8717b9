// SPDX-License-Identifier: Apache-2.0

// Gang termination with Recreate when pods of one replica are lost one after the other: the smallest part that is
// broken is recreated, once.
import assert from 'node:assert/strict'
import { defaultConfiguration, label, type Pod } from '@grove/api'
import type { Stored } from '@grove/kube'
import { type Harness, isReady } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { cordoned } from './lost-capacity.ts'
import { uids } from './updates.ts'

const delayMs = 2_000
const name = 'trial'
const podCount = 10

/** A standalone clique and a scaling group that both tolerate losses, as far as `workMinimum` lets them. */
const trial = (workMinimum: number) => `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: ${name}}
spec:
  replicas: 1
  template:
    terminationDelay: ${delayMs / 1_000}s
    cliques:
      - name: web
        spec: {roleName: web, replicas: 2, minAvailable: 1, podSpec: {containers: [{name: main, image: 'registry.example/web:1'}]}}
      - name: lead
        spec: {roleName: lead, replicas: 1, podSpec: {containers: [{name: main, image: 'registry.example/lead:1'}]}}
      - name: work
        spec: {roleName: work, replicas: 3, minAvailable: ${workMinimum}, podSpec: {containers: [{name: main, image: 'registry.example/work:1'}]}}
    podCliqueScalingGroups:
      - {name: eng, cliqueNames: [lead, work], replicas: 2, minAvailable: 1}
`

const configuration = { ...defaultConfiguration(), gangTermination: { onTotalLoss: 'Recreate' as const } }

async function deployed(harness: Harness, workMinimum: number): Promise<Stored<Pod>[]> {
  await harness.apply(trial(workMinimum))
  const pods = await harness.untilReady(name, podCount)
  await harness.untilAvailable(name, 1)
  return pods
}

const live = async (harness: Harness) =>
  (await harness.pods(name)).filter(({ metadata }) => !metadata.deletionTimestamp)
const inClique = (clique: string) => (pod: Pod) => pod.metadata.labels?.[label.podClique] === clique
const inGroupReplica = (index: string) => (pod: Pod) =>
  pod.metadata.labels?.[label.scalingGroupReplicaIndex] === index

/** Deletes ready pods of a clique, whose replacements cannot be scheduled. */
async function lose(harness: Harness, clique: string, count: number): Promise<void> {
  const victims = (await live(harness)).filter(pod => inClique(clique)(pod) && isReady(pod)).slice(0, count)
  assert.equal(victims.length, count)
  for (const { metadata } of victims) await harness.deletePod(metadata.name)
}

async function keeps(harness: Harness, pods: readonly Stored<Pod>[]): Promise<void> {
  await harness.elapse(1.5 * delayMs)
  const now = await harness.until(
    'a replacement of every lost pod',
    async () => uids(await live(harness)),
    ({ length }) => length === podCount,
  )
  for (const uid of uids(pods)) assert.ok(now.includes(uid), 'a pod was terminated')
}

const untilRecreated = (harness: Harness, isMeant: (pod: Pod) => boolean, before: readonly Stored<Pod>[]) =>
  harness.until(
    'other pods of the same number',
    async () => (await live(harness)).filter(isMeant),
    now => {
      const old = uids(before.filter(isMeant))
      return now.length === old.length && !uids(now).some(uid => old.includes(uid))
    },
  )

const everything = () => true

export const successiveLossScenarios: Scenario[] = [
  {
    name: 'the loss of a pod that a clique can miss terminates nothing, the loss of its last pod terminates the replica',
    configuration,
    async run(harness) {
      await deployed(harness, 1)
      await cordoned(harness, async () => {
        await lose(harness, `${name}-0-web`, 1)
        await keeps(harness, await live(harness))
        const before = await live(harness)
        await lose(harness, `${name}-0-web`, 1)
        await harness.fastForward(delayMs)
        await untilRecreated(harness, everything, before)
      })
      await harness.untilReady(name, podCount)
      await harness.untilAvailable(name, 1)
    },
  },
  {
    name: 'the loss of a member terminates its group replica once; the loss of the same member in the last group replica terminates the replica of the set',
    configuration,
    async run(harness) {
      await deployed(harness, 1)
      await cordoned(harness, async () => {
        await lose(harness, `${name}-0-eng-0-work`, 1)
        await keeps(harness, await live(harness))
        const first = await live(harness)
        await lose(harness, `${name}-0-eng-0-work`, 2)
        await harness.fastForward(delayMs)
        const again = await untilRecreated(harness, inGroupReplica('0'), first)
        await keeps(harness, [...again, ...first.filter(pod => !inGroupReplica('0')(pod))])
        await lose(harness, `${name}-0-eng-1-work`, 1)
        await keeps(harness, await live(harness))
        const last = await live(harness)
        await lose(harness, `${name}-0-eng-1-work`, 2)
        await harness.fastForward(delayMs)
        await untilRecreated(harness, everything, last)
      })
      await harness.untilReady(name, podCount)
      await harness.untilAvailable(name, 1)
    },
  },
  {
    name: 'the loss of all pods of a member terminates only its group replica',
    configuration,
    async run(harness) {
      const before = await deployed(harness, 3)
      await cordoned(harness, async () => {
        await lose(harness, `${name}-0-eng-0-work`, 3)
        await harness.fastForward(delayMs)
        await untilRecreated(harness, inGroupReplica('0'), before)
        await keeps(
          harness,
          before.filter(pod => !inGroupReplica('0')(pod)),
        )
      })
      await harness.untilReady(name, podCount)
      await harness.untilAvailable(name, 1)
    },
  },
]
