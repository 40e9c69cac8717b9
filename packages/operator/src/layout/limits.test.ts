// SPDX-License-Identifier: Apache-2.0

// Replica counts may come from the scale subresource, an autoscaler or a typo. Work and memory must depend on the
// existing objects and on the limit of one reconcile. Otherwise these tests run out of memory.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { label } from '@grove/api'
import { mostCreated } from '../apply/writes.ts'
import { resources } from '../caches/resources.ts'
import { planScale } from '../podclique/scale.ts'
import { planSetStatus } from '../podcliqueset/status.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { planGroup } from '../scaling-group/plan.ts'
import { planGroupStatus } from '../scaling-group/status.ts'
import { planGroupTermination } from '../termination/plan-group.ts'
import { clique, group, samplePod, sampleSet } from '../testing/sample-set.ts'
import { converge } from '../testing/simulation/convergence.ts'
import { RecordedSimulation } from '../testing/simulation/recorded.ts'
import { setName } from '../testing/simulation/simulation.ts'
import { replicaState } from '../update/replica-state.ts'
import { replicaUnits } from '../update/replica-units.ts'
import { planUnitUpdate } from '../update/units.ts'
import { scalingGroup } from './layout.ts'
import { replicasWithMembers } from './limits.ts'
import type { StoredClique, StoredScalingGroup } from './stored.ts'

const hugeCounts = [2_000_000, 200_000_000, 2_147_483_647]

const shape = (replicas = 1) =>
  sampleSet({
    name: setName,
    replicas,
    cliques: [clique('web', { replicas: 2 }), clique('work')],
    groups: [group('g', ['work'], 2, 1)],
  })

describe('planners do not expand a count', () => {
  const set = shape()
  const instance = scalingGroup(set, 0, set.spec.template.podCliqueScalingGroups![0]!)
  const groupOf = (replicas: number): StoredScalingGroup => ({
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueScalingGroup',
    metadata: { name: 'w-0-g', namespace: 'serving', uid: 'g', resourceVersion: '1' },
    spec: { replicas, minAvailable: 1, cliqueNames: ['work'] },
  })
  const member = (replica: number): StoredClique => ({
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodClique',
    metadata: {
      name: `w-0-g-${replica}-work`,
      namespace: 'serving',
      uid: `m${replica}`,
      resourceVersion: '1',
      labels: { [label.scalingGroupReplicaIndex]: String(replica) },
    },
    spec: clique('work').spec,
  })
  const cliques = [member(0), member(1)]

  for (const replicas of hugeCounts) {
    test(`members of a group of ${replicas}`, () => {
      const plan = planGroup({ set, group: groupOf(replicas), instance, cliques })
      assert.equal(plan.create.length, mostCreated)
      assert.equal(plan.create[0]!.name, 'w-0-g-2-work')
      assert.deepEqual(
        plan.keep.map(({ instance: kept }) => kept.name),
        ['w-0-g-0-work', 'w-0-g-1-work'],
      )
    })

    test(`status, update and termination of a group of ${replicas}`, () => {
      const revision = revisionOf(set)
      const { status } = planGroupStatus({
        set: 'w',
        group: groupOf(replicas),
        cliques,
        revision,
        onTotalLoss: 'Wait',
        isLeaving: false,
        update: undefined,
        paused: false,
        now: '2030-01-01T00:00:00Z',
      })
      assert.equal(status.replicas, replicas)
      const units = replicaUnits({
        replicas,
        cliqueCount: 1,
        cliques,
        revision,
        hasOutdatedPods: () => false,
      })
      const update = planUnitUpdate({
        replicas,
        minAvailable: 1,
        units,
        selection: { current: replicas - 1, currentIndex: replicas - 1 },
        paused: false,
        stableInMs: 0,
      })
      assert.deepEqual(update, { kind: 'wait', reason: 'not-back', index: replicas - 1 })
      assert.deepEqual(planGroupTermination(groupOf(replicas), cliques, 1, 1), {
        terminate: [],
        deadline: undefined,
      })
    })

    test(`pods of a clique of ${replicas}`, () => {
      const { create } = planScale(replicas, [samplePod('a', { index: 1 })], () => true, 0)
      assert.deepEqual([create.length, create[0], create[1]], [mostCreated, 0, 2])
    })

    test(`status of a set of ${replicas}`, () => {
      const status = planSetStatus({
        set: shape(replicas),
        states: [
          replicaState(set, 0, revisionOf(set), {
            cliqueNamed: () => undefined,
            groupNamed: () => undefined,
            membersOf: () => [],
            hasOutdatedPods: () => false,
          }),
        ],
        generationHash: undefined,
        topology: undefined,
        update: undefined,
        stalled: undefined,
        gangs: undefined,
        now: '2030-01-01T00:00:00Z',
      })
      assert.deepEqual([status.replicas, status.availableReplicas], [replicas, 0])
    })
  }

  test('an edited replica-index label of a member does not count as a huge index', () => {
    const limits = {
      podCliqueSetReplicas: 1,
      scalingGroupReplicas: 5,
      podCliqueReplicas: 1,
      podsPerPodCliqueSet: 1,
    }
    assert.equal(replicasWithMembers([], limits), 0)
    assert.equal(replicasWithMembers([member(3)], limits), 4)
    assert.equal(replicasWithMembers([member(999_999_999)], limits), 5)
  })
})

describe('a count above its limit', () => {
  async function convergedSet(): Promise<RecordedSimulation> {
    const simulation = new RecordedSimulation(shape())
    assert.ok(await converge(simulation, 60))
    await simulation.reconcileAll()
    return simulation
  }
  const everything = (simulation: RecordedSimulation) =>
    [
      resources.podCliques,
      resources.podCliqueScalingGroups,
      resources.podGangs,
      resources.pods,
      resources.services,
    ]
      .flatMap(resource => simulation.api.list(resource as never) as { metadata: { uid: string } }[])
      .map(({ metadata }) => metadata.uid)
      .sort()

  const levels: [
    what: string,
    resource: never,
    name: string,
    errors: (simulation: RecordedSimulation) => unknown,
  ][] = [
    ['a set', resources.podCliqueSets as never, setName, ({ set }) => set.status?.lastErrors],
    [
      'a scaling group',
      resources.podCliqueScalingGroups as never,
      `${setName}-0-g`,
      ({ groups }) => groups[0]?.status?.lastErrors,
    ],
    [
      'a clique',
      resources.podCliques as never,
      `${setName}-0-web`,
      ({ cliques }) =>
        cliques.find(({ metadata }) => metadata.name === `${setName}-0-web`)?.status?.lastErrors,
    ],
  ]
  for (const [what, resource, name, errors] of levels)
    for (const replicas of hugeCounts)
      test(`${what} scaled to ${replicas} keeps its children, reports it once, and recovers`, async () => {
        const simulation = await convergedSet()
        const before = everything(simulation)
        simulation.emitted.length = 0
        simulation.api.modify(resource, name, { spec: { replicas } })
        for (let look = 0; look < 3; look++) {
          await simulation.reconcileAll()
          await simulation.clock.advance(10_000)
        }
        assert.deepEqual(everything(simulation), before)
        assert.match(
          JSON.stringify(errors(simulation)),
          new RegExp(
            `ERR_REPLICA_LIMIT_EXCEEDED.*spec.replicas is ${replicas}, which exceeds the limit of 10000`,
          ),
        )
        assert.deepEqual(
          simulation.emitted
            .filter(({ event }) => event.type === 'Warning')
            .map(({ event, about }) => [event.reason, about.split(' ')[1]]),
          [['ReplicaLimitExceeded', name]],
        )
        simulation.writes.length = 0
        await simulation.reconcileAll()
        assert.deepEqual(simulation.writes, [], 'an unchanged error is written once')

        simulation.api.modify(resource, name, { spec: { replicas: 3 } })
        assert.ok(await converge(simulation, 200))
        assert.deepEqual(errors(simulation) ?? [], [])
        assert.ok(everything(simulation).length > before.length)
      })

  test('in a template that was stored without admission stops the children of the set as well', async () => {
    const simulation = await convergedSet()
    const before = everything(simulation)
    const { template } = simulation.set.spec
    const podCliqueScalingGroups = [group('g', ['work'], 2_000_000_000, 2_000_000_000)]
    simulation.api.modify(resources.podCliqueSets, setName, {
      spec: { template: { ...template, podCliqueScalingGroups } },
    })
    await simulation.reconcileAll()
    assert.deepEqual(everything(simulation), before)
    assert.match(simulation.lastErrors.join(), /podCliqueScalingGroups\[0\].replicas is 2000000000/)
  })
})

describe('one reconcile creates a slice', () => {
  const count = (simulation: RecordedSimulation, write: string) =>
    simulation.writes.filter(one => one === write).length

  test('of the children of a set, and the next one continues', async () => {
    const simulation = new RecordedSimulation(
      sampleSet({ name: setName, replicas: 3 * mostCreated, cliques: [clique('web')] }),
    )
    const created: number[] = []
    for (let wantsMore = true; wantsMore; ) {
      simulation.writes.length = 0
      const result = await simulation.resultOfSet()
      wantsMore = result?.requeueAfter === 0
      created.push(count(simulation, 'create podcliques'))
      assert.equal(count(simulation, 'create services'), created.at(-1))
    }
    assert.deepEqual(created, [64, 448, mostCreated, 488])
    assert.equal(simulation.cliques.length, 3 * mostCreated)
    await simulation.resultOfSet()
    simulation.writes.length = 0
    await simulation.resultOfSet()
    assert.deepEqual(simulation.writes, [])
  })

  test('of the members of a group, and of the pods of a clique', async () => {
    const simulation = new RecordedSimulation(
      sampleSet({
        name: setName,
        cliques: [clique('web', { replicas: 2 * mostCreated + 2 }), clique('work')],
        groups: [group('g', ['work'], mostCreated + 1, 1)],
      }),
    )
    await simulation.resultOfSet()
    simulation.writes.length = 0
    await simulation.reconcileOne('group', `${setName}-0-g`)
    assert.equal(count(simulation, 'create podcliques'), mostCreated)
    await simulation.reconcileOne('group', `${setName}-0-g`)
    assert.equal(count(simulation, 'create podcliques'), mostCreated + 1)
    assert.equal(await simulation.requeueAfter(`${setName}-0-web`), 1)
    await simulation.reconcileOne('clique', `${setName}-0-web`)
    assert.equal(count(simulation, 'create pods'), 2 * mostCreated + 2)
  })

  test('a slice that waits for its token is not retried before there is one', async () => {
    const simulation = new RecordedSimulation(
      sampleSet({
        name: setName,
        startup: 'CliqueStartupTypeInOrder',
        cliques: [clique('first'), clique('second', { replicas: mostCreated })],
      }),
    )
    await simulation.resultOfSet()
    assert.notEqual(await simulation.requeueAfter(`${setName}-0-second`), 1)
    assert.equal(count(simulation, 'create pods'), 0)
  })
})
