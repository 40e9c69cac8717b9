// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { label, type PodClique, type PodCliqueScalingGroup } from '@grove/api'
import { eachReplica } from '../layout/layout.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { planGroupTermination } from './plan-group.ts'
import { planTerminations, type ReplicaBreachInput, replicaBreach } from './plan-set.ts'

const start = Date.parse('2030-01-01T00:00:00Z')
const hour = 3_600_000
const at = (ms: number) => new Date(start + ms).toISOString()

interface Shape {
  readonly breachedAt?: number
  readonly everScheduled?: boolean
  readonly terminating?: boolean
}

function conditions({ breachedAt, everScheduled = true }: Shape, everType: string) {
  const condition = (type: string, status: 'True' | 'False', time: number) => ({
    type,
    status,
    reason: 'x',
    message: 'too few',
    lastTransitionTime: at(time),
  })
  return [
    condition('MinAvailableBreached', breachedAt === undefined ? 'False' : 'True', breachedAt ?? 0),
    ...(everScheduled ? [condition(everType, 'True', 0)] : []),
  ]
}

function live(name: string, shape: Shape, replica?: number): PodClique {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodClique',
    metadata: {
      name,
      creationTimestamp: at(0),
      ...(shape.terminating && { deletionTimestamp: at(1) }),
      labels: replica === undefined ? {} : { [label.scalingGroupReplicaIndex]: String(replica) },
    },
    spec: { roleName: 'r', replicas: 1, podSpec: { containers: [] } },
    status: {
      readyReplicas: 0,
      updatedReplicas: 0,
      scheduleGatedReplicas: 0,
      scheduledReplicas: 0,
      conditions: conditions(shape, 'EverScheduled'),
    },
  }
}

const scalingGroup = (shape: Shape = {}): PodCliqueScalingGroup => ({
  apiVersion: 'grove.io/v1alpha1',
  kind: 'PodCliqueScalingGroup',
  metadata: { name: 'w-0-g' },
  spec: { replicas: 3, minAvailable: 2, cliqueNames: ['a'] },
  status: {
    scheduledReplicas: 0,
    availableReplicas: 0,
    updatedReplicas: 0,
    conditions: conditions(shape, 'EverHealthy'),
  },
})

const delay = 4 * hour
const groupPlan = (cliques: PodClique[], now: number) =>
  planGroupTermination(scalingGroup(), cliques, delay, start + now)

test('the cost of a plan for a group grows with its replicas, not with their square', () => {
  const replicas = 500
  let reads = 0
  const counted = Array.from({ length: replicas }, (_, index) => {
    const clique = live(`w-0-g-${index}-a`, { breachedAt: 0 }, index)
    const { metadata } = clique
    return Object.defineProperty({ ...clique }, 'metadata', {
      get: () => {
        reads++
        return metadata
      },
    })
  })
  const large = { ...scalingGroup(), spec: { replicas, minAvailable: 0, cliqueNames: ['a'] } }
  assert.equal(planGroupTermination(large, counted, delay, start + delay).terminate.length, replicas)
  assert.ok(reads <= 10 * replicas, `${reads} looks at ${replicas} cliques`)
})

test('a broken group replica that minAvailable tolerates is terminated after the delay, not before', () => {
  const cliques = [
    live('w-0-g-0-a', {}, 0),
    live('w-0-g-1-a', { breachedAt: hour }, 1),
    live('w-0-g-2-a', {}, 2),
  ]
  assert.deepEqual(groupPlan(cliques, 2 * hour), { terminate: [], deadline: start + 5 * hour })
  assert.deepEqual(groupPlan(cliques, 5 * hour), { terminate: [1], deadline: undefined })
})

test('the duration of an update does not count towards the delay', () => {
  const group = scalingGroup()
  const updated = {
    ...group,
    status: {
      ...group.status!,
      updateProgress: {
        updateStartedAt: at(0),
        updateEndedAt: at(3 * hour),
        podCliqueSetGenerationHash: 'x',
      },
    },
  }
  const cliques = [
    live('w-0-g-0-a', {}, 0),
    live('w-0-g-1-a', { breachedAt: hour }, 1),
    live('w-0-g-2-a', {}, 2),
  ]
  assert.deepEqual(planGroupTermination(updated, cliques, delay, start + 6 * hour), {
    terminate: [],
    deadline: start + 7 * hour,
  })
})

test('with too few remaining replicas the group terminates none, because the set decides', () => {
  const cliques = [
    live('w-0-g-0-a', {}, 0),
    live('w-0-g-1-a', { breachedAt: 0 }, 1),
    live('w-0-g-2-a', { breachedAt: 0 }, 2),
  ]
  assert.deepEqual(groupPlan(cliques, 9 * hour), { terminate: [], deadline: undefined })
})

test('a clique that was never scheduled is never terminated', () => {
  const cliques = [live('w-0-g-1-a', { breachedAt: 0, everScheduled: false }, 1)]
  assert.deepEqual(groupPlan(cliques, 99 * hour), { terminate: [], deadline: undefined })
})

const set = sampleSet({
  cliques: [clique('web'), clique('a')],
  groups: [group('g', ['a'], 3, 2)],
  template: { terminationDelay: '4h' },
})
const planSetTermination = (input: ReplicaBreachInput & { readonly now: number }) => {
  const breaches = Array.from(eachReplica(input.set), replica => replicaBreach(input, replica))
  return planTerminations(input.set, breaches, input.now)
}
const setPlan = (web: Shape | undefined, of: Shape, now: number) =>
  planSetTermination({
    set,
    cliqueNamed: () => (web ? live('w-0-web', web) : undefined),
    groupNamed: () => scalingGroup(of),
    now: start + now,
  })

test('a standalone clique in breach terminates its replica after the delay', () => {
  const before = setPlan({ breachedAt: 0 }, {}, hour)
  assert.deepEqual(
    before.waiting.map(({ replica, deadline }) => [replica, deadline]),
    [[0, start + delay]],
  )
  assert.deepEqual(
    setPlan({ breachedAt: 0 }, {}, delay).terminate.map(({ replica }) => replica),
    [0],
  )
})

test('a scaling group in breach terminates its replica, and the earlier of two breaches decides', () => {
  const { terminate } = setPlan({ breachedAt: 2 * hour }, { breachedAt: hour }, 5 * hour)
  assert.match(terminate[0]!.breach.because, /PodCliqueScalingGroup w-0-g/)
})

test('a replica with a missing clique is being created and is not terminated', () => {
  assert.deepEqual(setPlan(undefined, { breachedAt: 0 }, 99 * hour), { terminate: [], waiting: [] })
})

test('a recovered set has no deadline', () => {
  assert.deepEqual(setPlan({}, {}, 99 * hour), { terminate: [], waiting: [] })
})

test('the replica that is being updated is not terminated, unless the update is paused', () => {
  const updating = (paused: boolean) => ({
    ...set,
    spec: { ...set.spec, updateStrategy: { paused } },
    status: {
      availableReplicas: 0,
      updatedReplicas: 0,
      updateProgress: { updateStartedAt: at(0), currentlyUpdating: [{ replicaIndex: 0 }] },
    },
  })
  const plan = (paused: boolean) =>
    planSetTermination({
      set: updating(paused),
      cliqueNamed: () => live('w-0-web', { breachedAt: 0 }),
      groupNamed: () => scalingGroup(),
      now: start + 99 * hour,
    })
  assert.deepEqual(plan(false), { terminate: [], waiting: [] })
  assert.deepEqual(
    plan(true).terminate.map(({ replica }) => replica),
    [0],
  )
})

test('a surge replica in breach is terminated like any other, unless it does not exist yet', () => {
  const terminated = (currentlyUpdating: { replicaIndex: number }[]) =>
    planSetTermination({
      set: {
        ...set,
        spec: { ...set.spec, replicas: 1, updateStrategy: { maxSurge: 1 } },
        status: {
          replicas: 1,
          availableReplicas: 1,
          updatedReplicas: 0,
          updateProgress: { updateStartedAt: at(0), surgeReplicas: 1, currentlyUpdating },
        },
      },
      cliqueNamed: name => live(name, name === 'w-1-web' ? { breachedAt: 0 } : {}),
      groupNamed: () => scalingGroup(),
      now: start + 99 * hour,
    }).terminate.map(({ replica }) => replica)
  assert.deepEqual(terminated([]), [1])
  assert.deepEqual(terminated([{ replicaIndex: 1 }]), [])
})
