// SPDX-License-Identifier: Apache-2.0

// Tests gang termination over hours of simulated time: the real reconcilers on a simulated API.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  annotation,
  defaultConfiguration,
  type EventValue,
  label,
  type Pod,
  type PodClique,
  type PodCliqueScalingGroup,
} from '@grove/api'
import type { Stored } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import type { OnTotalLoss } from '../state/breach-condition.ts'
import { findCondition } from '../state/conditions.ts'
import { isReady, isTerminating } from '../state/pod-state.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { converge } from '../testing/simulation/convergence.ts'
import { type Observer, Simulation, setName } from '../testing/simulation/simulation.ts'

const minute = 60_000
const hour = 60 * minute
const noObserver: Observer = {
  reconcileBegins: () => {},
  patches: () => {},
  deletes: () => {},
  inspects: () => {},
}

/** Two replicas: a web clique of two pods, and a group of three replicas of one worker with minAvailable 2. */
async function running(onTotalLoss: OnTotalLoss = 'Wait') {
  const emitted: EventValue[] = []
  const simulation = new Simulation({
    seed: 1,
    set: sampleSet({
      name: setName,
      replicas: 2,
      cliques: [clique('web', { replicas: 2 }), clique('work')],
      groups: [group('g', ['work'], 3, 2)],
      template: { terminationDelay: '4h' },
    }),
    nodes: 2,
    places: 20,
    observer: noObserver,
    configuration: { ...defaultConfiguration(), gangTermination: { onTotalLoss } },
    events: { emit: (_about, _source, event) => void emitted.push(event) },
  })
  assert.ok(await converge(simulation, 60))
  const uids = (prefix: string) =>
    simulation.cliques
      .filter(({ metadata }) => metadata.name.startsWith(prefix))
      .map(({ metadata }) => metadata.uid)
  const pods = (prefix: string) =>
    simulation.api
      .list(resources.pods)
      .filter(pod => !isTerminating(pod) && pod.metadata.name.startsWith(prefix)) as Stored<Pod>[]
  return {
    simulation,
    uids,
    pods,
    count: (reason: string) => emitted.filter(event => event.reason === reason).length,
    /** Makes the first pod of a clique unready. */
    break: (prefix: string) => simulation.nodes.stopServing(pods(prefix)[0]!),
    advance: async (ms: number) => {
      await propagate(simulation)
      await simulation.clock.advance(ms)
      await propagate(simulation)
    },
    heal: () => {
      while (simulation.nodes.progress());
    },
  }
}

/** Runs all reconcilers until a change of a pod has reached the set. */
async function propagate(simulation: Simulation): Promise<void> {
  for (let round = 0; round < 4; round++) {
    await simulation.reconcileAll()
    await simulation.clock.advance(1_500)
  }
}

test('a standalone clique below minAvailable for four hours terminates its whole replica once, and no other replica', async () => {
  const harness = await running()
  const before = { broken: harness.uids('w-0-'), other: harness.uids('w-1-') }
  harness.break('w-0-web')
  await harness.advance(4 * hour - minute)
  assert.deepEqual(harness.uids('w-0-'), before.broken)
  assert.equal(harness.count('GangTerminationScheduled'), 1, 'emitted before the termination')
  await harness.advance(minute)
  for (const uid of before.broken) assert.ok(!harness.uids('w-0-').includes(uid), 'members of groups, too')
  assert.deepEqual(harness.uids('w-1-'), before.other)
  await harness.advance(20 * hour)
  assert.equal(harness.count('PodCliqueSetReplicaDeleteSuccessful'), 1)
  assert.ok(await converge(harness.simulation, 60))
})

test('a clique that a user scaled keeps its replica count in a termination, and nothing else', async () => {
  const harness = await running()
  harness.simulation.api.modify(resources.podCliques, 'w-0-web', { spec: { replicas: 5 } })
  assert.ok(await converge(harness.simulation, 60))
  const [before] = harness.uids('w-0-web')
  for (let pod = 0; pod < 4; pod++) harness.simulation.nodes.stopServing(harness.pods('w-0-web')[pod]!)
  await harness.advance(4 * hour)
  await harness.advance(minute)
  assert.ok(await converge(harness.simulation, 60))
  const after = harness.simulation.cliques.find(({ metadata }) => metadata.name === 'w-0-web')!
  assert.notEqual(after.metadata.uid, before)
  assert.equal(after.spec.replicas, 5)
  assert.equal(harness.pods('w-1-web').length, 2)
  assert.equal(harness.simulation.set.metadata.annotations?.[annotation.countsBeforeTermination], undefined)
  // A clique that a user deletes is recreated with the replicas of the template.
  harness.simulation.api.remove(resources.podCliques as never, after as never)
  assert.ok(await converge(harness.simulation, 60))
  assert.equal(harness.pods('w-0-web').length, 2)
})

test('a recovery in the last minute cancels the termination, and the next breach has the whole delay again', async () => {
  const harness = await running()
  const before = harness.uids('w-')
  harness.break('w-0-web')
  await harness.advance(4 * hour - minute)
  harness.heal()
  await harness.advance(minute)
  harness.break('w-0-web')
  await harness.advance(4 * hour - minute)
  assert.deepEqual(harness.uids('w-'), before)
})

test('a breach right after the start, a restart and a clock that is set back do not change the deadline', async () => {
  const harness = await running()
  const before = harness.uids('w-0-')
  harness.break('w-0-web')
  await harness.advance(hour)
  harness.simulation.restart()
  harness.simulation.clock.shiftWallClock(-30 * minute)
  await harness.advance(3 * hour)
  assert.deepEqual(harness.uids('w-0-'), before, 'half an hour remains')
  await harness.advance(31 * minute)
  for (const uid of before) assert.ok(!harness.uids('w-0-').includes(uid))
})

for (const [what, broken] of [
  ['clique', 'w-0-web'],
  ['group replica', 'w-0-g-1'],
] as const)
  test(`a recovery of a ${what} that no operator was there to see cancels it, too`, async () => {
    const harness = await running()
    const before = harness.uids('w-')
    harness.break(broken)
    await harness.advance(hour)
    harness.heal()
    await harness.simulation.clock.advance(3 * hour)
    harness.simulation.restart()
    await harness.advance(hour)
    assert.deepEqual(harness.uids('w-'), before)
  })

test('terminates a single group replica while the group keeps minAvailable', async () => {
  const harness = await running()
  const others = [
    ...harness.uids('w-0-web'),
    ...harness.uids('w-0-g-0'),
    ...harness.uids('w-0-g-2'),
    ...harness.uids('w-1'),
  ]
  const [broken] = harness.uids('w-0-g-1')
  harness.break('w-0-g-1')
  await harness.advance(4 * hour + minute)
  assert.notEqual(harness.uids('w-0-g-1')[0], broken)
  for (const uid of others) assert.ok(harness.uids('w-').includes(uid))
  assert.equal(harness.count('PodCliqueSetReplicaDeleteSuccessful'), 0)
})

test('a group below minAvailable terminates the replica and is marked until it recovers', async () => {
  const harness = await running()
  const before = harness.uids('w-0-')
  harness.break('w-0-g-1')
  harness.break('w-0-g-2')
  await harness.advance(4 * hour)
  await harness.advance(minute)
  for (const uid of before) assert.ok(!harness.uids('w-0-').includes(uid))
  const mark = () =>
    findCondition(
      harness.simulation.groups.find(({ metadata }) => metadata.name === 'w-0-g')!.status?.conditions,
      'GangTerminationInProgress',
    )?.status
  assert.equal(mark(), 'True')
  assert.ok(await converge(harness.simulation, 60))
  await propagate(harness.simulation)
  assert.equal(mark(), undefined)
  assert.equal(harness.count('PodCliqueSetReplicaDeleteSuccessful'), 1)
})

test('a clique that lost all pods is reported once and never terminated', async () => {
  const harness = await running('Wait')
  const before = harness.uids('w-')
  harness.simulation.nodes.loseAll()
  harness.heal()
  await harness.advance(48 * hour)
  assert.deepEqual(harness.uids('w-'), before)
  // Four web cliques and groups, six workers: one event each.
  assert.equal(harness.count('AllScheduledReplicasLost'), 10)
  harness.simulation.nodes.returnAll()
  assert.ok(await converge(harness.simulation, 60))
})

test('with Recreate a total loss is a breach and causes one termination', async () => {
  const harness = await running('Recreate')
  const before = harness.uids('w-')
  harness.simulation.nodes.loseAll()
  harness.heal()
  await harness.advance(4 * hour + minute)
  for (const uid of before) assert.ok(!harness.uids('w-').includes(uid))
  assert.equal(harness.count('PodCliqueSetReplicaDeleteSuccessful'), 2)
  await harness.advance(48 * hour)
  assert.equal(
    harness.count('PodCliqueSetReplicaDeleteSuccessful'),
    2,
    'a replica that never recovered is not terminated again',
  )
})

test('does not terminate a set that never fitted into the cluster', async () => {
  const harness = await running('Recreate')
  harness.simulation.api.modify(resources.podCliqueSets, setName, { spec: { replicas: 3 } })
  harness.simulation.nodes.loseAll()
  await harness.advance(minute)
  const before = harness.uids('w-2-')
  await harness.advance(3 * hour)
  assert.deepEqual(harness.uids('w-2-'), before)
  await harness.advance(48 * hour)
  assert.deepEqual(harness.uids('w-2-'), before)
})

test('terminates neither the replica that is being updated nor a broken group replica in it, however long the update takes', async () => {
  const harness = await running()
  harness.break('w-0-g-1')
  await propagate(harness.simulation)
  const template = structuredClone(harness.simulation.set.spec.template)
  template.cliques[0]!.spec.podSpec.containers[0]!.image = 'registry.example/main:2'
  harness.simulation.api.modify(resources.podCliqueSets, setName, { spec: { template } })
  await propagate(harness.simulation)
  const { currentlyUpdating } = harness.simulation.set.status!.updateProgress!
  const updating = `w-${currentlyUpdating![0]!.replicaIndex}-`
  assert.equal(updating, 'w-0-')
  const before = harness.uids(updating)
  await harness.advance(48 * hour)
  assert.deepEqual(harness.uids(updating), before)
  assert.ok(await converge(harness.simulation, 100))
  const images = harness.pods('w-').filter(pod => pod.metadata.labels?.[label.podClique]?.endsWith('web'))
  for (const pod of images) assert.equal(pod.spec?.containers[0]?.image, 'registry.example/main:2')
})

/** Deletes one pod, whose replacement fits on no node. */
function lose({ simulation, pods }: Awaited<ReturnType<typeof running>>, prefix: string): void {
  simulation.nodes.cordon()
  simulation.api.remove(resources.pods, pods(prefix)[0]!)
  while (simulation.nodes.progress());
}

const breachOf = (object: PodClique | PodCliqueScalingGroup | undefined) =>
  findCondition(object?.status?.conditions, 'MinAvailableBreached')

test('a clique with fewer scheduled pods than minAvailable for four hours terminates its replica, and recovers', async () => {
  const harness = await running()
  const { simulation } = harness
  const before = { broken: harness.uids('w-0-'), other: harness.uids('w-1-') }
  lose(harness, 'w-0-web')
  await harness.advance(4 * hour - minute)
  const web = simulation.cliques.find(({ metadata }) => metadata.name === 'w-0-web')
  assert.equal(breachOf(web)?.reason, 'ScheduledReplicasBelowMinAvailable')
  assert.deepEqual(harness.uids('w-0-'), before.broken)
  assert.equal(harness.count('GangTerminationScheduled'), 1)
  await harness.advance(minute)
  for (const uid of before.broken) assert.ok(!harness.uids('w-0-').includes(uid))
  assert.deepEqual(harness.uids('w-1-'), before.other)
  simulation.nodes.uncordon()
  assert.ok(await converge(simulation, 60))
  assert.equal(harness.count('PodCliqueSetReplicaDeleteSuccessful'), 1)
})

test('a group with fewer scheduled replicas than minAvailable for four hours terminates its replica, and recovers', async () => {
  const harness = await running()
  const { simulation } = harness
  const before = harness.uids('w-0-')
  lose(harness, 'w-0-g-0-work')
  lose(harness, 'w-0-g-1-work')
  await harness.advance(4 * hour - minute)
  const group = simulation.groups.find(({ metadata }) => metadata.name === 'w-0-g')
  assert.deepEqual(
    [breachOf(group)?.status, breachOf(group)?.message],
    ['True', 'Scheduled replicas (1) below MinAvailable (2)'],
  )
  assert.deepEqual(harness.uids('w-0-'), before)
  await harness.advance(minute)
  for (const uid of before) assert.ok(!harness.uids('w-0-').includes(uid))
  simulation.nodes.uncordon()
  assert.ok(await converge(simulation, 60))
  assert.equal(harness.count('PodCliqueSetReplicaDeleteSuccessful'), 1)
})

for (const [what, prefix] of [
  ['clique', 'w-0-web'],
  ['group', 'w-0-g-'],
] as const)
  test(`an update that is paused half-way does not switch gang termination of a ${what} off; one that runs does`, async () => {
    for (const paused of [true, false]) {
      const harness = await running()
      const { simulation } = harness
      changeImages(simulation)
      // The first pod or group replica of the new template exists and is starting.
      const isHalfWay = () =>
        simulation.set.status?.updateProgress?.currentlyUpdating?.[0]?.replicaIndex === 0 &&
        harness.pods(prefix).some(pod => !isReady(pod))
      for (let round = 0; round < 100 && !isHalfWay(); round++) {
        if (round % 5 === 4) simulation.nodes.progress()
        await simulation.reconcileAll()
        await simulation.clock.advance(1_000)
      }
      assert.ok(isHalfWay())
      const strategy = { spec: { updateStrategy: { paused } } }
      simulation.api.modify(resources.podCliqueSets, setName, strategy)
      const before = harness.uids('w-0-')
      simulation.nodes.cordon()
      for (const pod of harness.pods(prefix).slice(1)) simulation.api.remove(resources.pods, pod)
      await harness.advance(4 * hour + minute)
      const terminated = harness.count('PodCliqueSetReplicaDeleteSuccessful')
      assert.equal(terminated, paused ? 1 : 0)
      if (paused) for (const uid of before) assert.ok(!harness.uids('w-0-').includes(uid))
      simulation.nodes.uncordon()
      simulation.api.modify(resources.podCliqueSets, setName, { spec: { updateStrategy: { paused: false } } })
      assert.ok(await converge(simulation, 200))
    }
  })

test('with Recreate, scaling a clique, a group or a member to zero is no loss', async () => {
  const harness = await running('Recreate')
  const { api } = harness.simulation
  api.modify(resources.podCliques, 'w-0-web', { spec: { replicas: 0 } })
  api.modify(resources.podCliqueScalingGroups, 'w-0-g', { spec: { replicas: 0 } })
  for (const member of ['w-1-g-0-work', 'w-1-g-1-work', 'w-1-g-2-work'])
    api.modify(resources.podCliques, member, { spec: { replicas: 0 } })
  await harness.advance(minute)
  const before = harness.uids('w-')
  await harness.advance(20 * hour)
  assert.deepEqual(harness.uids('w-'), before)
  assert.equal(harness.count('PodCliqueSetReplicaDeleteSuccessful'), 0)
  assert.equal(harness.count('AllScheduledReplicasLost'), 0)
})

function changeImages({ api, set }: Simulation): void {
  const cliques = structuredClone(set.spec.template.cliques)
  for (const { spec } of cliques) spec.podSpec.containers[0]!.image = 'registry.example/main:2'
  api.modify(resources.podCliqueSets, setName, { spec: { template: { ...set.spec.template, cliques } } })
}
