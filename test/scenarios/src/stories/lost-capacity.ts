// SPDX-License-Identifier: Apache-2.0

// Gang termination when pods are lost and no node takes their replacements: for a part of a clique or group, and for all
// of it.
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
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'
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

/** A clique of its own and a scaling group, whose minima are all they have. */
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

/** One pod and one group replica: every replacement takes the last one. */
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

async function setUnschedulable(stage: Stage, unschedulable: boolean): Promise<void> {
  const { items } = await stage.client.list(nodes)
  await Promise.all(
    items.map(({ metadata }) =>
      stage.client.patch(nodes, { name: metadata.name }, { merge: { spec: { unschedulable } } }),
    ),
  )
}

/** Cordons every node for as long as `work` takes. Scenarios run one at a time, so no other needs a node. */
async function cordoned(stage: Stage, work: () => Promise<void>): Promise<void> {
  await setUnschedulable(stage, true)
  try {
    await work()
  } finally {
    await setUnschedulable(stage, false)
  }
}

async function running(stage: Stage, manifest: string): Promise<Stored<Pod>[]> {
  await stage.apply(manifest)
  const pods = await stage.untilReady('duo', duoPods)
  await stage.untilAvailable('duo', 1)
  return pods
}

const losePod = (stage: Stage, pods: readonly Stored<Pod>[], prefix: string) =>
  stage.deletePod(pods.find(({ metadata }) => metadata.name.startsWith(prefix))!.metadata.name)

const breachOf = (object: PodClique | PodCliqueScalingGroup | undefined): Condition | undefined =>
  object?.status?.conditions?.find(({ type }) => type === conditionType.minAvailableBreached)

async function find(stage: Stage, name: string) {
  const all = [...(await stage.cliques('duo')), ...(await stage.groups('duo'))]
  return all.find(({ metadata }) => metadata.name === name)
}

async function untilBreach(stage: Stage, name: string, expected: string): Promise<void> {
  await stage.until(
    `${name} to be ${expected}`,
    async () => breachOf(await find(stage, name)),
    breach => `${breach?.status} ${breach?.reason}: ${breach?.message}` === expected,
  )
}

const below = (scheduled: number, minimum: number) =>
  `True ScheduledReplicasBelowMinAvailable: Scheduled replicas (${scheduled}) below MinAvailable (${minimum})`

const cliqueUids = async (stage: Stage, prefix = 'duo-') =>
  (await stage.cliques('duo'))
    .filter(({ metadata }) => metadata.name.startsWith(prefix) && !metadata.deletionTimestamp)
    .map(({ metadata }) => metadata.uid)
    .sort()

function untilOthers(stage: Stage, before: readonly string[], prefix?: string): Promise<string[]> {
  return stage.until(
    'other PodCliques in their place',
    () => cliqueUids(stage, prefix),
    now => now.length === before.length && now.every(uid => !before.includes(uid)),
  )
}

const eventsOf = (stage: Stage, reason: string) =>
  stage.told
    .filter(event => event.reason === reason)
    .map(({ about }) => about)
    .sort()

/** Waits until an operator that counts the delay from now on would have terminated. */
async function untilDelayIsOver(stage: Stage, delayMs: number): Promise<void> {
  const end = Date.now() + 2 * delayMs
  await stage.until(
    'the delay to be over',
    async () => Date.now(),
    now => now > end,
  )
}

async function isTerminatedAndRecovers(stage: Stage, before: readonly string[]): Promise<void> {
  await untilOthers(stage, before)
  await stage.until(
    'the termination to be reported',
    async () => eventsOf(stage, terminatedReason),
    ({ length }) => length === 1,
  )
}

export const lostCapacityStories: Story[] = [
  {
    name: 'a clique of which fewer pods than its minimum find a node is terminated with its replica, and recovers with the nodes',
    async tell(stage) {
      const pods = await running(stage, duo('3s'))
      const before = await cliqueUids(stage)
      await cordoned(stage, async () => {
        await losePod(stage, pods, 'duo-0-web')
        await untilBreach(stage, 'duo-0-web', below(1, 2))
        await isTerminatedAndRecovers(stage, before)
        assert.deepEqual(eventsOf(stage, 'GangTerminationScheduled'), ['duo'])
        assert.deepEqual(eventsOf(stage, lossReason), [], 'one pod was left, and the rest was terminated')
      })
      await stage.untilReady('duo', duoPods)
      await stage.untilAvailable('duo', 1)
    },
  },
  {
    name: 'a group of which fewer replicas than its minimum find nodes is terminated with its replica, and recovers with the nodes',
    async tell(stage) {
      const pods = await running(stage, duo('3s'))
      const before = await cliqueUids(stage)
      await cordoned(stage, async () => {
        await losePod(stage, pods, 'duo-0-eng-1-work')
        await untilBreach(stage, 'duo-0-eng-1-work', below(1, 2))
        await untilBreach(stage, 'duo-0-eng', below(1, 2))
        await isTerminatedAndRecovers(stage, before)
        assert.deepEqual(eventsOf(stage, 'GangTerminationScheduled'), ['duo'])
        assert.deepEqual(eventsOf(stage, lossReason), [])
      })
      await stage.untilReady('duo', duoPods)
      await stage.untilAvailable('duo', 1)
    },
  },
  {
    name: 'a member of which fewer pods than its minimum find a node is recycled alone where the group can do without it',
    async tell(stage) {
      const pods = await running(stage, duo('3s', 1))
      const spared = await cliqueUids(stage, 'duo-0-web')
      const broken = await cliqueUids(stage, 'duo-0-eng-1')
      await cordoned(stage, async () => {
        await losePod(stage, pods, 'duo-0-eng-1-work')
        await untilBreach(stage, 'duo-0-eng-1-work', below(1, 2))
        await untilOthers(stage, broken, 'duo-0-eng-1')
      })
      await stage.untilReady('duo', duoPods)
      assert.deepEqual(await cliqueUids(stage, 'duo-0-web'), spared)
      assert.deepEqual(eventsOf(stage, terminatedReason), [])
      assert.deepEqual(eventsOf(stage, lossReason), [])
    },
  },
  {
    name: 'a total loss is reported once for each clique and group, and waits for nodes by default',
    async tell(stage) {
      const pods = await running(stage, duo('1s'))
      const before = await cliqueUids(stage)
      const everything = ['duo-0-eng', 'duo-0-eng-0-work', 'duo-0-eng-1-work', 'duo-0-web']
      await cordoned(stage, async () => {
        for (const { metadata } of pods) await stage.deletePod(metadata.name)
        for (const name of everything)
          await untilBreach(
            stage,
            name,
            'False InsufficientScheduledPods: All scheduled replicas were lost. Gang termination is suppressed because recreating them would give the same pending pods',
          )
        await untilDelayIsOver(stage, 1_000)
        assert.deepEqual(eventsOf(stage, lossReason), everything)
      })
      await stage.untilReady('duo', duoPods)
      await stage.untilAvailable('duo', 1)
      assert.deepEqual(await cliqueUids(stage), before)
      assert.deepEqual(eventsOf(stage, terminatedReason), [])
    },
  },
  {
    name: 'with Recreate a total loss is terminated once, and what a user scaled to zero is not',
    configuration: { ...defaultConfiguration(), gangTermination: { onTotalLoss: 'Recreate' } },
    async tell(stage) {
      const pods = await running(stage, duo('2s'))
      const before = await cliqueUids(stage)
      await cordoned(stage, async () => {
        for (const { metadata } of pods) await stage.deletePod(metadata.name)
        await untilBreach(stage, 'duo-0-web', below(0, 2))
        await isTerminatedAndRecovers(stage, before)
        await untilDelayIsOver(stage, 2_000)
        assert.deepEqual(
          eventsOf(stage, terminatedReason),
          ['duo'],
          'what is pending is not terminated again',
        )
      })
      await stage.untilReady('duo', duoPods)
      await stage.untilAvailable('duo', 1)
      const after = await cliqueUids(stage)
      await stage.scale(resources.podCliques, 'duo-0-web', 0)
      await untilBreach(
        stage,
        'duo-0-web',
        'False InsufficientScheduledPods: Scaled to zero. Gang termination is suppressed because no replica is wanted',
      )
      await untilDelayIsOver(stage, 2_000)
      assert.deepEqual(await cliqueUids(stage), after)
      assert.deepEqual(eventsOf(stage, terminatedReason), ['duo'])
    },
  },
  {
    name: 'an update, a scale to zero and a termination by the operator are reported as no loss, a loss is',
    async tell(stage) {
      await stage.apply(single)
      const untilSteady = async () => {
        const pods = await stage.untilReady('single', 2)
        await stage.untilAvailable('single', 1)
        return pods
      }
      await untilSteady()
      await editCliques(stage, 'single', cliques => {
        for (const { spec } of cliques) spec.podSpec.containers[0]!.image = 'registry.example/both:2'
        return cliques
      })
      await untilUpdated(stage, 'single')
      await untilSteady()
      assert.deepEqual(eventsOf(stage, lossReason), [], 'after an update')

      for (const [resource, name] of [
        [resources.podCliques, 'single-0-web'],
        [resources.podCliqueScalingGroups, 'single-0-eng'],
      ] as const) {
        await stage.scale(resource, name, 0)
        await stage.until(
          `${name} to be empty`,
          () =>
            stage.client.get<KubeObject & { status?: { scheduledReplicas?: number } }>(resource as never, {
              name,
              namespace: stage.namespace,
            }),
          ({ status }) => status?.scheduledReplicas === 0,
        )
        await stage.scale(resource, name, 1)
        await untilSteady()
      }
      await stage.patchSet('single', { spec: { replicas: 0 } })
      await stage.until(
        'no pods',
        () => stage.pods('single'),
        ({ length }) => length === 0,
      )
      await stage.patchSet('single', { spec: { replicas: 1 } })
      const pods = await untilSteady()
      assert.deepEqual(eventsOf(stage, lossReason), [], 'after scaling to zero')

      await report(stage, pods.find(({ metadata }) => metadata.name.startsWith('single-0-web'))!, false)
      await stage.until(
        'the termination to be reported',
        async () => eventsOf(stage, terminatedReason),
        ({ length }) => length === 1,
      )
      const after = await untilSteady()
      assert.deepEqual(eventsOf(stage, lossReason), [], 'after a termination')

      await cordoned(stage, async () => {
        for (const { metadata } of after) await stage.deletePod(metadata.name)
        await stage.until(
          'the loss to be reported',
          async () => eventsOf(stage, lossReason),
          seen => seen.join() === 'single-0-eng,single-0-eng-0-work,single-0-web',
        )
      })
      await untilSteady()
    },
  },
]
