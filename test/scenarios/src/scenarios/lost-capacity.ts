// SPDX-License-Identifier: Apache-2.0

// Gang termination when pods are lost and their replacements cannot be scheduled: part of a clique or group, or all of
// it.
import assert from 'node:assert/strict'
import {
  type Condition,
  conditionType,
  defaultConfiguration,
  type Pod,
  type PodClique,
  type PodCliqueScalingGroup,
} from '@grove/api'
import { defineResource, type KubeObject, type Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { report } from './gang-termination.ts'
import { editCliques, untilUpdated } from './updates.ts'

const nodes = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'nodes',
  kind: 'Node',
  namespaced: false,
})

const lossReason = 'AllScheduledReplicasLost'
const terminatedReason = 'PodCliqueSetReplicaDeleteSuccessful'

/** A standalone clique and a scaling group with minAvailable equal to replicas. */
const duo = (terminationDelay: string, groupMinimum = 2) => `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: duo}
spec:
  replicas: 1
  template:
    terminationDelay: ${terminationDelay}
    cliques:
      - name: web
        spec: {roleName: web, replicas: 2, podSpec: {containers: [{name: main, image: 'registry.example/web:1'}]}}
      - name: work
        spec: {roleName: work, replicas: 2, podSpec: {containers: [{name: main, image: 'registry.example/work:1'}]}}
    podCliqueScalingGroups:
      - {name: eng, cliqueNames: [work], replicas: 2, minAvailable: ${groupMinimum}}
`
const duoPods = 6

/** One pod and one group replica: every loss is a total loss. */
const single = `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: single}
spec:
  replicas: 1
  template:
    terminationDelay: 2s
    cliques:
      - name: web
        spec: {roleName: web, replicas: 1, podSpec: {containers: [{name: main, image: 'registry.example/web:1'}]}}
      - name: work
        spec: {roleName: work, replicas: 1, podSpec: {containers: [{name: main, image: 'registry.example/work:1'}]}}
    podCliqueScalingGroups:
      - {name: eng, cliqueNames: [work], replicas: 1, minAvailable: 1}
`

async function setUnschedulable(harness: Harness, unschedulable: boolean): Promise<void> {
  const { items } = await harness.client.list(nodes)
  await Promise.all(
    items.map(({ metadata }) =>
      harness.client.patch(nodes, { name: metadata.name }, { merge: { spec: { unschedulable } } }),
    ),
  )
}

/** The longest time for which a scheduler delays a pod that was unschedulable. */
const longestBackoffMs = 10_000

/** Cordons every node for as long as `work` takes. Scenarios run one at a time, so no other needs a node. */
export async function cordoned(harness: Harness, work: () => Promise<void>): Promise<void> {
  await setUnschedulable(harness, true)
  try {
    await work()
  } finally {
    await setUnschedulable(harness, false)
    await harness.fastForward(longestBackoffMs)
  }
}

async function running(harness: Harness, manifest: string): Promise<Stored<Pod>[]> {
  await harness.apply(manifest)
  const pods = await harness.untilReady('duo', duoPods)
  await harness.untilAvailable('duo', 1)
  return pods
}

const losePod = (harness: Harness, pods: readonly Stored<Pod>[], prefix: string) =>
  harness.deletePod(pods.find(({ metadata }) => metadata.name.startsWith(prefix))!.metadata.name)

const breachOf = (object: PodClique | PodCliqueScalingGroup | undefined): Condition | undefined =>
  object?.status?.conditions?.find(({ type }) => type === conditionType.minAvailableBreached)

async function find(harness: Harness, name: string) {
  const all = [...(await harness.cliques('duo')), ...(await harness.groups('duo'))]
  return all.find(({ metadata }) => metadata.name === name)
}

async function untilBreach(harness: Harness, name: string, expected: string): Promise<void> {
  await harness.until(
    `${name} to be ${expected}`,
    async () => breachOf(await find(harness, name)),
    breach => `${breach?.status} ${breach?.reason}: ${breach?.message}` === expected,
  )
}

const below = (scheduled: number, minimum: number) =>
  `True ScheduledReplicasBelowMinAvailable: Scheduled replicas (${scheduled}) below MinAvailable (${minimum})`

const cliqueUids = async (harness: Harness, prefix = 'duo-') =>
  (await harness.cliques('duo'))
    .filter(({ metadata }) => metadata.name.startsWith(prefix) && !metadata.deletionTimestamp)
    .map(({ metadata }) => metadata.uid)
    .sort()

function untilOthers(harness: Harness, before: readonly string[], prefix?: string): Promise<string[]> {
  return harness.until(
    'new PodCliques of the same names',
    () => cliqueUids(harness, prefix),
    now => now.length === before.length && now.every(uid => !before.includes(uid)),
  )
}

const eventsOf = (harness: Harness, reason: string) =>
  harness.events
    .filter(event => event.reason === reason)
    .map(({ about }) => about)
    .sort()

async function isTerminatedAndRecovers(
  harness: Harness,
  before: readonly string[],
  delayMs: number,
): Promise<void> {
  await harness.fastForward(delayMs)
  await untilOthers(harness, before)
  await harness.until(
    'the termination to be reported',
    async () => eventsOf(harness, terminatedReason),
    ({ length }) => length === 1,
  )
}

export const lostCapacityScenarios: Scenario[] = [
  {
    name: 'a clique with fewer scheduled pods than its minimum is terminated with its replica, and recovers with the nodes',
    async run(harness) {
      const pods = await running(harness, duo('3s'))
      const before = await cliqueUids(harness)
      await cordoned(harness, async () => {
        await losePod(harness, pods, 'duo-0-web')
        await untilBreach(harness, 'duo-0-web', below(1, 2))
        await isTerminatedAndRecovers(harness, before, 3_000)
        assert.deepEqual(eventsOf(harness, 'GangTerminationScheduled'), ['duo'])
        assert.deepEqual(
          eventsOf(harness, lossReason),
          [],
          'one pod was left, and the others were terminated',
        )
      })
      await harness.untilReady('duo', duoPods)
      await harness.untilAvailable('duo', 1)
    },
  },
  {
    name: 'a group with fewer scheduled replicas than its minimum is terminated with its replica, and recovers with the nodes',
    async run(harness) {
      const pods = await running(harness, duo('3s'))
      const before = await cliqueUids(harness)
      await cordoned(harness, async () => {
        await losePod(harness, pods, 'duo-0-eng-1-work')
        await untilBreach(harness, 'duo-0-eng-1-work', below(1, 2))
        await untilBreach(harness, 'duo-0-eng', below(1, 2))
        await isTerminatedAndRecovers(harness, before, 3_000)
        assert.deepEqual(eventsOf(harness, 'GangTerminationScheduled'), ['duo'])
        assert.deepEqual(eventsOf(harness, lossReason), [])
      })
      await harness.untilReady('duo', duoPods)
      await harness.untilAvailable('duo', 1)
    },
  },
  {
    name: 'a member with fewer scheduled pods than its minimum terminates only its group replica if the group has enough others',
    async run(harness) {
      const pods = await running(harness, duo('3s', 1))
      const spared = await cliqueUids(harness, 'duo-0-web')
      const broken = await cliqueUids(harness, 'duo-0-eng-1')
      await cordoned(harness, async () => {
        await losePod(harness, pods, 'duo-0-eng-1-work')
        await untilBreach(harness, 'duo-0-eng-1-work', below(1, 2))
        await harness.fastForward(3_000)
        await untilOthers(harness, broken, 'duo-0-eng-1')
      })
      await harness.untilReady('duo', duoPods)
      assert.deepEqual(await cliqueUids(harness, 'duo-0-web'), spared)
      assert.deepEqual(eventsOf(harness, terminatedReason), [])
      assert.deepEqual(eventsOf(harness, lossReason), [])
    },
  },
  {
    name: 'a total loss is reported once for each clique and group, and by default not terminated',
    async run(harness) {
      const pods = await running(harness, duo('1s'))
      const before = await cliqueUids(harness)
      const everything = ['duo-0-eng', 'duo-0-eng-0-work', 'duo-0-eng-1-work', 'duo-0-web']
      await cordoned(harness, async () => {
        for (const { metadata } of pods) await harness.deletePod(metadata.name)
        for (const name of everything)
          await untilBreach(
            harness,
            name,
            `False ${name === 'duo-0-eng' ? 'InsufficientScheduledPodCliqueScalingGroupReplicas' : 'InsufficientScheduledPods'}: All scheduled replicas were lost. Gang termination is suppressed because recreating them would give the same pending pods`,
          )
        await harness.elapse(2 * 1_000)
        assert.deepEqual(eventsOf(harness, lossReason), everything)
      })
      await harness.untilReady('duo', duoPods)
      await harness.untilAvailable('duo', 1)
      assert.deepEqual(await cliqueUids(harness), before)
      assert.deepEqual(eventsOf(harness, terminatedReason), [])
    },
  },
  {
    name: 'with Recreate, a total loss is terminated once; a clique that a user scaled to zero is not',
    configuration: { ...defaultConfiguration(), gangTermination: { onTotalLoss: 'Recreate' } },
    async run(harness) {
      // Long enough for a busy machine to observe the breach before the termination.
      const pods = await running(harness, duo('4s'))
      const before = await cliqueUids(harness)
      await cordoned(harness, async () => {
        for (const { metadata } of pods) await harness.deletePod(metadata.name)
        await untilBreach(harness, 'duo-0-web', below(0, 2))
        await isTerminatedAndRecovers(harness, before, 4_000)
        await harness.elapse(6_000)
        assert.deepEqual(
          eventsOf(harness, terminatedReason),
          ['duo'],
          'a pending replica is not terminated again',
        )
      })
      await harness.untilReady('duo', duoPods)
      await harness.untilAvailable('duo', 1)
      const after = await cliqueUids(harness)
      await harness.scale(resources.podCliques, 'duo-0-web', 0)
      await untilBreach(
        harness,
        'duo-0-web',
        'False InsufficientScheduledPods: Scaled to zero. Gang termination is suppressed because no replica is wanted',
      )
      await harness.elapse(6_000)
      assert.deepEqual(await cliqueUids(harness), after)
      assert.deepEqual(eventsOf(harness, terminatedReason), ['duo'])
    },
  },
  {
    name: 'a loss is reported, but not after an update, a scale to zero or a termination by the operator',
    async run(harness) {
      await harness.apply(single)
      const untilSteady = async () => {
        const pods = await harness.untilReady('single', 2)
        await harness.untilAvailable('single', 1)
        return pods
      }
      await untilSteady()
      await editCliques(harness, 'single', cliques => {
        for (const { spec } of cliques) spec.podSpec.containers[0]!.image = 'registry.example/both:2'
        return cliques
      })
      await untilUpdated(harness, 'single')
      await untilSteady()
      assert.deepEqual(eventsOf(harness, lossReason), [], 'after an update')

      for (const [resource, name] of [
        [resources.podCliques, 'single-0-web'],
        [resources.podCliqueScalingGroups, 'single-0-eng'],
      ] as const) {
        await harness.scale(resource, name, 0)
        await harness.until(
          `${name} to be empty`,
          () =>
            harness.client.get<KubeObject & { status?: { scheduledReplicas?: number } }>(resource as never, {
              name,
              namespace: harness.namespace,
            }),
          ({ status }) => status?.scheduledReplicas === 0,
        )
        await harness.scale(resource, name, 1)
        await untilSteady()
      }
      await harness.patchSet('single', { spec: { replicas: 0 } })
      await harness.until(
        'no pods',
        () => harness.pods('single'),
        ({ length }) => length === 0,
      )
      await harness.patchSet('single', { spec: { replicas: 1 } })
      const pods = await untilSteady()
      assert.deepEqual(eventsOf(harness, lossReason), [], 'after scaling to zero')

      await report(harness, pods.find(({ metadata }) => metadata.name.startsWith('single-0-web'))!, false)
      await harness.until(
        'the termination to be reported',
        async () => eventsOf(harness, terminatedReason),
        ({ length }) => length === 1,
      )
      const after = await untilSteady()
      assert.deepEqual(eventsOf(harness, lossReason), [], 'after a termination')

      await cordoned(harness, async () => {
        for (const { metadata } of after) await harness.deletePod(metadata.name)
        await harness.until(
          'the loss to be reported',
          async () => eventsOf(harness, lossReason),
          seen => seen.join() === 'single-0-eng,single-0-eng-0-work,single-0-web',
        )
      })
      await untilSteady()
    },
  },
]
