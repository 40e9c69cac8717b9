// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { derivedGangStatus, gangProgress, unschedulableCondition } from './gang-status.ts'
import type { Condition, Pod } from './kubernetes/index.ts'
import type { PodGang, PodGangStatus } from './types/index.ts'

const now = '2030-01-01T00:00:00Z'
const later = '2030-01-01T00:01:00Z'
const waits = { reason: 'Unschedulable', message: '0/3 nodes are available' }

type Step = 'pending' | 'bound' | 'running' | 'ready'

function pod(step: Step): Pod {
  return {
    metadata: {},
    spec: { containers: [], ...(step !== 'pending' && { nodeName: 'n' }) },
    status: {
      phase: step === 'running' || step === 'ready' ? 'Running' : 'Pending',
      conditions: [{ type: 'Ready', status: step === 'ready' ? 'True' : 'False' }],
    },
  } as unknown as Pod
}

function gangOf(minimums: readonly number[], status?: PodGangStatus): PodGang {
  return {
    apiVersion: 'scheduler.grove.io/v1alpha1',
    kind: 'PodGang',
    metadata: { name: 'w-0', generation: 3 },
    spec: {
      podgroups: minimums.map((minReplicas, at) => ({ name: `g${at}`, minReplicas, podReferences: [] })),
    },
    ...(status && { status }),
  } as PodGang
}

function statusOf(gang: PodGang, groups: readonly (readonly Step[])[], time = now): PodGangStatus {
  const progress = gangProgress(gang, name => (groups[Number(name.slice(1))] ?? []).map(pod))
  return derivedGangStatus(gang, progress, waits, time)
}

const conditionOf = (status: PodGangStatus, type: string) =>
  status.conditions!.find(condition => condition.type === type)!

const summary = (status: PodGangStatus) =>
  [
    status.phase,
    ...['Scheduled', 'Ready', 'Unhealthy'].map(type => {
      const { status: value, reason } = conditionOf(status, type)
      return `${value}/${reason}`
    }),
  ].join(' ')

const first = { ...gangOf([1]), status: undefined }
const wasRunning = statusOf(gangOf([2, 1]), [['ready', 'ready'], ['ready']])

describe('the status of a gang of two groups that need two pods and one pod', () => {
  const table: [groups: Step[][], before: PodGangStatus | undefined, expected: string][] = [
    [[[], []], undefined, 'Pending False/Unschedulable False/PodsNotReady False/NotScheduled'],
    [
      [['pending', 'pending'], ['pending']],
      undefined,
      'Pending False/Unschedulable False/PodsNotReady False/NotScheduled',
    ],
    // The default scheduler binds pod by pod: without the minimum the gang stays Pending.
    [
      [['ready', 'pending'], ['ready']],
      undefined,
      'Pending False/Unschedulable False/PodsNotReady False/NotScheduled',
    ],
    [[['bound', 'bound'], ['bound']], undefined, 'Starting True/Bound False/PodsNotReady False/Bound'],
    [[['running', 'ready'], ['bound']], undefined, 'Starting True/Bound False/PodsNotReady False/Bound'],
    [[['running', 'ready'], ['running']], undefined, 'Running True/Bound False/PodsNotReady False/Bound'],
    [[['ready', 'ready'], ['ready']], undefined, 'Running True/Bound True/PodsReady False/Bound'],
    // Pods above the minimum do not count.
    [[['ready', 'ready', 'pending'], ['ready']], undefined, 'Running True/Bound True/PodsReady False/Bound'],
    [
      [['ready', 'pending'], ['ready']],
      wasRunning,
      'Pending False/Unschedulable False/PodsNotReady True/BelowMinimum',
    ],
    [[['bound', 'ready'], ['ready']], wasRunning, 'Starting True/Bound False/PodsNotReady False/Bound'],
    [
      [['pending', 'pending'], []],
      wasRunning,
      'Pending False/Unschedulable False/PodsNotReady False/NotScheduled',
    ],
  ]
  for (const [groups, before, expected] of table)
    test(`${JSON.stringify(groups)}${before ? ' after it ran' : ''}: ${expected}`, () =>
      assert.equal(summary(statusOf(gangOf([2, 1], before), groups)), expected))
})

test('names a few of the groups that lack pods', () => {
  const minimums = [1, 1, 2, 1, 1]
  const status = statusOf(
    gangOf(minimums),
    minimums.map(() => ['bound', 'bound']),
  )
  assert.equal(
    conditionOf(status, 'Ready').message,
    'fewer pods than minReplicas are ready: PodClique g0 (1), PodClique g1 (1), PodClique g2 (2), 2 more',
  )
})

test('keeps the conditions of others, and times until status or cause change', () => {
  const initialized: Condition = {
    type: 'Initialized',
    status: 'True',
    reason: 'PodGangPodsCreated',
    message: '',
    lastTransitionTime: '2029-01-01T00:00:00Z',
  }
  const before = { phase: 'Pending', conditions: [initialized], placementScore: 0.5 } as PodGangStatus
  const pending = statusOf(gangOf([1], before), [['pending']])
  assert.deepEqual([pending.conditions![0], pending.placementScore], [initialized, 0.5])
  assert.equal(conditionOf(pending, 'Scheduled').observedGeneration, 3)
  const same = statusOf(gangOf([1], pending), [['pending']], later)
  assert.deepEqual(same, pending)
  const other = { ...conditionOf(pending, 'Scheduled'), reason: 'PodsGated' }
  const gated = { ...pending, conditions: [other] }
  assert.equal(
    conditionOf(statusOf(gangOf([1], gated), [['pending']], later), 'Scheduled').lastTransitionTime,
    later,
    'the transition time shows since when the gang waits for this cause',
  )
})

test('only causes that a scheduler names count as unschedulable', () => {
  const withReason = (reason: string, status: 'True' | 'False' = 'False') => ({
    ...first,
    status: {
      phase: 'Pending' as const,
      conditions: [{ type: 'Scheduled', status, reason, message: 'm', lastTransitionTime: now }],
    },
  })
  for (const reason of [
    'PodsNotCreated',
    'PodsGated',
    'BaseGangNotScheduled',
    'NotYetEvaluated',
    'Binding',
    'ScaledBelowMinimum',
  ])
    assert.equal(unschedulableCondition(withReason(reason)), undefined, reason)
  assert.equal(unschedulableCondition(withReason('Bound', 'True')), undefined)
  assert.equal(unschedulableCondition(withReason('Unschedulable'))?.message, 'm')
  assert.equal(unschedulableCondition(withReason('InsufficientCapacity'))?.message, 'm')
})

test('phase and conditions never contradict the pods, whatever the former status was', () => {
  const step = fc.constantFrom<Step>('pending', 'bound', 'running', 'ready')
  const groups = fc.array(
    fc.record({ min: fc.integer({ min: 1, max: 3 }), pods: fc.array(step, { maxLength: 4 }) }),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  fc.assert(
    fc.property(groups, fc.array(groups, { maxLength: 3 }), (given, history) => {
      const gang = gangOf(given.map(({ min }) => min))
      let before: PodGangStatus | undefined
      for (const earlier of history)
        before = statusOf(
          gangOf(
            earlier.map(({ min }) => min),
            before,
          ),
          earlier.map(({ pods }) => pods),
        )
      const status = statusOf(
        { ...gang, ...(before && { status: before }) },
        given.map(({ pods }) => pods),
        later,
      )
      const reached = (steps: readonly Step[]) =>
        given.every(({ min, pods }) => pods.filter(one => steps.includes(one)).length >= min)
      const isBound = reached(['bound', 'running', 'ready'])
      const isRunning = reached(['running', 'ready'])
      assert.equal(status.phase, isRunning ? 'Running' : isBound ? 'Starting' : 'Pending')
      assert.equal(conditionOf(status, 'Scheduled').status === 'True', isBound)
      assert.equal(conditionOf(status, 'Ready').status === 'True', reached(['ready']))
      const hasBound = given.some(({ pods }) => pods.some(one => one !== 'pending'))
      if (conditionOf(status, 'Unhealthy').status === 'True') assert.ok(!isBound && hasBound)
      assert.equal(new Set(status.conditions!.map(({ type }) => type)).size, status.conditions!.length)
    }),
  )
})
