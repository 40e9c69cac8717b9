// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Condition, PodClique, PodCliqueScalingGroup, PodCliqueSetStatus } from '@grove/api'
import { eachReplica } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import { buildAll } from '../objects/wanted-child.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { type ReplicaState, replicaState } from '../update/replica-state.ts'
import { wantedCliques, wantedScalingGroups } from './children.ts'
import { planSetStatus } from './status.ts'

const now = '2030-01-01T00:00:00Z'
const selector = 'app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=w'
/** Two replicas of a web clique with minAvailable 1, and a group with minAvailable 2 of 3. */
const shape = {
  replicas: 2,
  cliques: [clique('web', { replicas: 2, minAvailable: 1 }), clique('work')],
  groups: [group('g', ['work'], 3, 2)],
}
const set = sampleSet(shape)
const { generationHash, templateHashes } = revisionOf(set)

type Child = PodClique | PodCliqueScalingGroup
/** Changes to children, by name; undefined for a child that is missing or terminating. */
type Changes = Readonly<Record<string, ((child: Child) => Child) | undefined>>

function healthyChildren(of: StoredSet): Map<string, Child> {
  const cliques = buildAll(wantedCliques(of, templateHashes)).map(one => ({
    ...one,
    status: {
      replicas: 2,
      readyReplicas: 1,
      updatedReplicas: 2,
      scheduledReplicas: 2,
      scheduleGatedReplicas: 0,
      currentPodTemplateHash: templateHashes.web!,
      currentPodCliqueSetGenerationHash: generationHash,
    },
  }))
  const groups = buildAll(wantedScalingGroups(of)).map(one => ({
    ...one,
    status: {
      replicas: 3,
      scheduledReplicas: 3,
      availableReplicas: 2,
      updatedReplicas: 3,
      currentPodCliqueSetGenerationHash: generationHash,
    },
  }))
  return new Map([...cliques, ...groups].map(child => [child.metadata.name, child as Child]))
}

function statusOf(
  of: StoredSet,
  changes: Changes = {},
  more: Partial<Parameters<typeof planSetStatus>[0]> = {},
) {
  const children = healthyChildren(of)
  for (const [name, change] of Object.entries(changes)) {
    const child = children.get(name)
    if (!change) children.delete(name)
    else if (child) children.set(name, change(child))
  }
  return planSetStatus({
    set: of,
    states: Array.from(eachReplica(of), replica => stateOf(of, replica, children)),
    generationHash: revisionOf(of).generationHash,
    topology: undefined,
    update: undefined,
    stalled: undefined,
    gangs: undefined,
    now,
    ...more,
  })
}

function stateOf(of: StoredSet, replica: number, children: ReadonlyMap<string, Child>): ReplicaState {
  return replicaState(of, replica, revisionOf(of), {
    cliqueNamed: name => children.get(name) as PodClique | undefined,
    groupNamed: name => children.get(name) as PodCliqueScalingGroup | undefined,
    membersOf: () => [],
    hasOutdatedPods: () => assert.fail('the status does not read pods'),
  })
}

const withStatus =
  (status: object) =>
  (child: Child): Child =>
    ({ ...child, status: { ...child.status, ...status } }) as Child
const withSpec =
  (spec: object) =>
  (child: Child): Child =>
    ({ ...child, spec: { ...child.spec, ...spec } }) as Child
const withoutStatus = ({ status: _, ...child }: Child) => child as Child

describe('counts of replicas', () => {
  const table: [what: string, changes: Changes, available: number, updated: number][] = [
    ['all children available', {}, 2, 2],
    ['a missing clique', { 'w-0-web': undefined }, 1, 1],
    ['a missing group', { 'w-1-g': undefined }, 1, 1],
    ['one missing child in each replica', { 'w-0-web': undefined, 'w-1-g': undefined }, 0, 0],
    ['a clique without a status', { 'w-0-web': withoutStatus }, 1, 1],
    ['a group without a status', { 'w-0-g': withoutStatus }, 1, 1],
    ['a clique with too few ready pods', { 'w-0-web': withStatus({ readyReplicas: 0 }) }, 1, 1],
    ['a group with too few available replicas', { 'w-0-g': withStatus({ availableReplicas: 1 }) }, 1, 1],
    ['a clique of another template', { 'w-0-web': withStatus({ currentPodTemplateHash: 'z1-other' }) }, 2, 1],
    [
      'a clique of another generation',
      { 'w-0-web': withStatus({ currentPodCliqueSetGenerationHash: 'z1-other' }) },
      2,
      1,
    ],
    [
      'a group of another generation',
      { 'w-0-g': withStatus({ currentPodCliqueSetGenerationHash: undefined }) },
      2,
      1,
    ],
    ['a clique with too few updated pods', { 'w-0-web': withStatus({ updatedReplicas: 0 }) }, 2, 1],
    [
      'an updated replica that is not available does not count as updated',
      { 'w-0-g': withStatus({ availableReplicas: 0 }), 'w-1-web': withStatus({ readyReplicas: 0 }) },
      0,
      0,
    ],
    [
      'a clique without minAvailable needs all of its pods',
      { 'w-0-web': withSpec({ minAvailable: undefined }) },
      1,
      1,
    ],
    [
      'a group without minAvailable needs one replica',
      { 'w-0-g': withSpec({ minAvailable: undefined }) },
      2,
      2,
    ],
    [
      'a reported breach does not count if the numbers suffice',
      { 'w-0-web': withStatus({ conditions: [condition('MinAvailableBreached', 'True')] }) },
      2,
      2,
    ],
  ]
  for (const [what, changes, available, updated] of table)
    test(what, () => {
      const { availableReplicas, updatedReplicas } = statusOf(set, changes)
      assert.deepEqual(
        { availableReplicas, updatedReplicas },
        { availableReplicas: available, updatedReplicas: updated },
      )
    })

  test('ignore children above the wanted number', () => {
    const one = sampleSet({ ...shape, replicas: 1 })
    const children = healthyChildren(set)
    const status = planSetStatus({
      set: one,
      states: [0, 1].map(replica => stateOf(one, replica, children)),
      generationHash: revisionOf(one).generationHash,
      topology: undefined,
      update: undefined,
      stalled: undefined,
      gangs: undefined,
      now,
    })
    assert.deepEqual([status.replicas, status.availableReplicas, status.updatedReplicas], [1, 1, 1])
  })

  test('a set with only groups or only cliques is complete', () => {
    for (const of of [
      sampleSet({ cliques: [clique('web', { replicas: 2, minAvailable: 1 })] }),
      sampleSet({ cliques: [clique('work')], groups: [group('g', ['work'], 3, 2)] }),
    ])
      assert.equal(statusOf(of).availableReplicas, 1)
  })
})

describe('the whole status', () => {
  const base: PodCliqueSetStatus = {
    currentGenerationHash: generationHash,
    replicas: 2,
    availableReplicas: 2,
    updatedReplicas: 2,
    hpaPodSelector: selector,
    conditions: [available('True', 'AllReplicasAvailable', 'All replicas are available')],
  }

  test('of a new set has no update progress', () => {
    const status = statusOf(
      set,
      Object.fromEntries([...healthyChildren(set).keys()].map(name => [name, undefined])),
    )
    assert.deepEqual(status, {
      ...base,
      availableReplicas: 0,
      updatedReplicas: 0,
      conditions: [available('False', 'ReplicasUnavailable', 'Replica 0 does not exist yet')],
    })
  })

  test('of a set that is in sync', () => assert.deepEqual(statusOf(set), base))

  test('of a set without replicas', () => {
    const idle = sampleSet({ ...shape, replicas: 0 })
    const { replicas, availableReplicas, updatedReplicas } = statusOf(idle)
    assert.deepEqual(
      { replicas, availableReplicas, updatedReplicas },
      { replicas: 0, availableReplicas: 0, updatedReplicas: 0 },
    )
  })

  test('counts updated replicas, available or not, and keeps fields of other clients', () => {
    const before: PodCliqueSetStatus = {
      ...base,
      observedGeneration: 1,
      hpaPodSelector: 'other=selector',
      podGangStatuses: [{ name: 'w-0', phase: 'Running' }],
      conditions: [condition('OtherController', 'True')],
      updateProgress: { updateStartedAt: now, currentlyUpdating: [{ replicaIndex: 1 }] },
    }
    const updating = { ...set, status: before }
    const status = statusOf(updating, {
      'w-0-web': withStatus({ currentPodTemplateHash: 'z1-other' }),
      'w-1-g': withStatus({ availableReplicas: 0 }),
    })
    const lacks = 'PodCliqueScalingGroup w-1-g has fewer available replicas than its minAvailable (2)'
    assert.deepEqual(status, {
      ...before,
      conditions: [
        ...before.conditions!,
        available(
          'False',
          'ReplicasUnavailable',
          `Replica 1 is not available: ${lacks}. To see its state: kubectl -n serving describe pcsg w-1-g`,
        ),
      ],
      availableReplicas: 1,
      updatedReplicas: 0,
      hpaPodSelector: selector,
      updateProgress: {
        updateStartedAt: now,
        currentlyUpdating: [{ replicaIndex: 1 }],
        updatedPodCliquesCount: 1,
        totalPodCliquesCount: 2,
        updatedPodCliqueScalingGroupsCount: 2,
        totalPodCliqueScalingGroupsCount: 2,
      },
    })
  })

  test('does not replace a known generation hash', () => {
    const known = { ...set, status: { ...base, currentGenerationHash: 'z1-former' } }
    assert.equal(statusOf(known).currentGenerationHash, 'z1-former')
  })

  test('planning does not modify its input', () => {
    const frozen = deepFrozen({ ...set, status: { ...base, updateProgress: { updateStartedAt: now } } })
    assert.equal(statusOf(frozen).availableReplicas, 2)
  })
})

describe('conditions', () => {
  const later = '2030-01-01T01:00:00Z'
  const value = (status: Condition['status'], message = 'm') => ({
    type: 'TopologyLevelsUnavailable',
    status,
    reason: 'R',
    message,
  })
  const conditionsAfter = (
    before: Condition[] | undefined,
    topology: ReturnType<typeof value> | undefined,
  ) => {
    const generation = { ...set.metadata, generation: 7 }
    const known = {
      ...set,
      metadata: generation,
      status: { availableReplicas: 0, updatedReplicas: 0, ...(before && { conditions: before }) },
    }
    return withoutAvailable(statusOf(known, {}, { topology, now: later }).conditions)
  }
  const withoutAvailable = (conditions: readonly Condition[] = []) =>
    conditions.filter(({ type }) => type !== 'Available')
  const at = (lastTransitionTime: string, ...args: Parameters<typeof value>) => ({
    ...value(...args),
    lastTransitionTime,
    observedGeneration: 7,
  })

  test('name the generation that they were computed for, and keep their time while their status stays', () => {
    assert.deepEqual(conditionsAfter(undefined, value('True')), [at(later, 'True')])
    assert.deepEqual(conditionsAfter([at(now, 'True')], value('True', 'other')), [at(now, 'True', 'other')])
    assert.deepEqual(conditionsAfter([at(now, 'True')], value('False')), [at(later, 'False')])
    assert.deepEqual(conditionsAfter([at(now, 'True')], value('True')), [at(now, 'True')])
  })

  test('stay unchanged if the reconcile did not compute them', () => {
    const kept = { ...condition('UpdateProgressing', 'False'), observedGeneration: 6 }
    const known = { ...set, status: { availableReplicas: 0, updatedReplicas: 0, conditions: [kept] } }
    assert.deepEqual(withoutAvailable(statusOf(known, {}, { update: kept }).conditions), [kept])
    const [looked] = statusOf(known, {}, { update: { ...kept } }).conditions ?? []
    assert.equal(looked?.observedGeneration, set.metadata.generation)
  })

  test('are removed when they no longer apply, and conditions of other clients stay', () => {
    const others = condition('OtherController', 'False')
    assert.deepEqual(conditionsAfter([at(now, 'True'), others], undefined), [others])
  })
})

function available(status: Condition['status'], reason: string, message: string): Condition {
  return { type: 'Available', status, reason, message, lastTransitionTime: now, observedGeneration: 1 }
}

function condition(type: string, status: Condition['status']): Condition {
  return { type, status, reason: 'R', message: '', lastTransitionTime: now }
}

function deepFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null)
    for (const one of Object.values(Object.freeze(value))) deepFrozen(one)
  return value
}
