// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, PodCliqueStatus } from '@grove/api'
import { findCondition } from '../condition-list.ts'
import type { StoredClique } from '../stored.ts'
import { samplePod } from '../testing/sample-set.ts'
import { type OnTotalLoss, planCliqueStatus } from './status.ts'

interface Shape {
  readonly pods: Pod[]
  readonly minAvailable?: number
  readonly before?: Partial<PodCliqueStatus>
  readonly onTotalLoss?: OnTotalLoss
  readonly now?: string
}

function plan({ pods, minAvailable = 2, before, onTotalLoss = 'Wait', now = '2030-01-01T02:00:00Z' }: Shape) {
  const clique: StoredClique = {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodClique',
    metadata: { name: 'w-0-a', namespace: 'serving', uid: 'clique-uid', generation: 3 },
    spec: { roleName: 'a', replicas: 3, minAvailable, podSpec: { containers: [] } },
    ...(before && {
      status: {
        readyReplicas: 0,
        updatedReplicas: 0,
        scheduleGatedReplicas: 0,
        scheduledReplicas: 0,
        ...before,
      },
    }),
  }
  return planCliqueStatus({
    set: 'w',
    clique,
    pods,
    podTemplateHash: 'new',
    generationHash: 'generation-1',
    isCurrent: hash => hash === 'new',
    onTotalLoss,
    update: undefined,
    now,
  })
}

function breachOf(shape: Shape): [string, string, string] {
  const condition = findCondition(plan(shape).status.conditions, 'MinAvailableBreached')!
  return [condition.status, condition.reason, condition.message]
}

const running = (count: number) =>
  Array.from({ length: count }, (_, index) => samplePod(`p-${index}`, { index }))
const pending = (count: number) =>
  Array.from({ length: count }, (_, index) => samplePod(`q-${index}`, { index, phase: 'Pending' }))

test('while an update runs nothing is said about a breach', () => {
  const before = {
    updateProgress: { podCliqueSetGenerationHash: 'g', podTemplateHash: 't', updateStartedAt: 'x' },
  }
  assert.deepEqual(breachOf({ pods: [], before }).slice(0, 2), ['Unknown', 'UpdateInProgress'])
})

test('some but too few scheduled pods are a breach', () => {
  assert.deepEqual(breachOf({ pods: running(1) }), [
    'True',
    'ScheduledReplicasBelowMinAvailable',
    'Scheduled replicas (1) below MinAvailable (2)',
  ])
})

test('a clique that is only starting up is not in breach', () => {
  assert.deepEqual(breachOf({ pods: pending(3) }).slice(0, 2), ['False', 'InsufficientScheduledPods'])
})

test('total loss after having been scheduled waits, or counts as a breach where the configuration says so', () => {
  const healthy = plan({ pods: running(3) }).status
  const lost = { pods: pending(3), before: healthy }
  assert.deepEqual(breachOf(lost).slice(0, 2), ['False', 'InsufficientScheduledPods'])
  assert.deepEqual(breachOf({ ...lost, onTotalLoss: 'Recreate' }).slice(0, 2), [
    'True',
    'ScheduledReplicasBelowMinAvailable',
  ])
  assert.deepEqual(breachOf({ pods: pending(3), onTotalLoss: 'Recreate' }).slice(0, 2), [
    'False',
    'InsufficientScheduledPods',
  ])
})

test('the loss of the last scheduled pod is told once', () => {
  const healthy = plan({ pods: running(3) })
  assert.deepEqual(healthy.events, [])
  const lost = plan({ pods: pending(3), before: healthy.status })
  assert.deepEqual(
    lost.events.map(event => event.reason),
    ['AllScheduledReplicasLost'],
  )
  assert.deepEqual(plan({ pods: pending(3), before: lost.status }).events, [])
})

test('crashed and unready pods do not count, pods that are still starting do', () => {
  const crashed = samplePod('x', { ready: false, exitCode: 1 })
  const unready = samplePod('y', { ready: false, startedNotReady: true })
  const starting = samplePod('z', { ready: false })
  assert.deepEqual(breachOf({ pods: [...running(1), crashed, unready] }), [
    'True',
    'InsufficientReadyPods',
    'Insufficient ready or starting pods. expected at least: 2, found: 1',
  ])
  assert.deepEqual(breachOf({ pods: [...running(1), crashed, starting] }).slice(0, 2), [
    'False',
    'SufficientReadyPods',
  ])
})

test('a pod that is ready again after a crash is well', () => {
  const recovered = samplePod('x', { ready: true, exitCode: 1 })
  assert.deepEqual(breachOf({ pods: [...running(1), recovered] }).slice(0, 2), [
    'False',
    'SufficientReadyPods',
  ])
})

test('terminating and finished pods count nowhere', () => {
  const { status } = plan({
    pods: [
      ...running(2),
      samplePod('t', { terminating: true }),
      samplePod('f', { phase: 'Failed', scheduled: true }),
    ],
  })
  assert.deepEqual(
    [status.replicas, status.readyReplicas, status.scheduledReplicas, status.updatedReplicas],
    [2, 2, 2, 2],
  )
})

test('the clique has reached its revision when every pod has, ready or not', () => {
  const { status } = plan({ pods: [samplePod('a'), samplePod('b', { ready: false })] })
  assert.equal(status.currentPodTemplateHash, 'new')
  assert.equal(status.currentPodCliqueSetGenerationHash, 'generation-1')
  const mixed = plan({ pods: [samplePod('a'), samplePod('b', { hash: 'old' })] }).status
  assert.equal(mixed.currentPodTemplateHash, undefined)
})

test('the time of a condition changes with its status only', () => {
  const first = plan({ pods: running(1), now: '2030-01-01T00:00:00Z' }).status
  const later = plan({
    pods: running(3).slice(0, 1),
    minAvailable: 3,
    before: first,
    now: '2030-01-01T05:00:00Z',
  }).status
  assert.equal(
    findCondition(later.conditions, 'MinAvailableBreached')!.lastTransitionTime,
    '2030-01-01T00:00:00Z',
  )
  const well = plan({ pods: running(3), before: later, now: '2030-01-01T06:00:00Z' }).status
  assert.equal(
    findCondition(well.conditions, 'MinAvailableBreached')!.lastTransitionTime,
    '2030-01-01T06:00:00Z',
  )
})

test('planning the status of an unchanged clique changes nothing', () => {
  const once = plan({ pods: running(3), now: '2030-01-01T00:00:00Z' }).status
  assert.deepEqual(plan({ pods: running(3), before: once, now: '2030-01-01T09:00:00Z' }).status, once)
})

test('a clique that is slow to be placed was never scheduled, however late its conditions are written', () => {
  const late = plan({ pods: running(1), now: '2030-01-01T09:00:00Z' }).status
  assert.equal(findCondition(late.conditions, 'EverScheduled'), undefined)
  const placed = plan({ pods: running(2), before: late, now: '2030-01-01T09:00:01Z' }).status
  assert.equal(findCondition(placed.conditions, 'EverScheduled')?.status, 'True')
  const lost = plan({ pods: running(1), before: placed, now: '2030-01-01T09:00:02Z' }).status
  assert.equal(findCondition(lost.conditions, 'EverScheduled')?.status, 'True')
})
