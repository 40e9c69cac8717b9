// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type Condition,
  type ConditionValue,
  type LastError,
  type PodClique,
  type PodCliqueScalingGroup,
  type PodGang,
  setErrorCode,
  stalled,
} from '@grove/api'
import fc from 'fast-check'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { stalledAfterMs } from '../timings/timings.ts'
import { gangObstacle, type Obstacle, planStall, replicaObstacles, stallEvent } from './stall.ts'

const start = Date.UTC(2030, 0, 1)
const timeAt = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`
const since = timeAt(start)
const due = timeAt(start + stalledAfterMs)
const early = timeAt(start + stalledAfterMs - 1_000)

function gang(name: string, reason: string, message = 'no room', lastTransitionTime = since): PodGang {
  const status = reason === 'Bound' ? 'True' : 'False'
  const conditions = [{ type: 'Scheduled', status, reason, message, lastTransitionTime }]
  return { metadata: { name, namespace: 'serving' }, status: { phase: 'Pending', conditions } } as PodGang
}

const error = (description: string, code: LastError['code'] = setErrorCode.syncClique): LastError => ({
  code,
  description,
  observedAt: since,
})

interface Given extends Partial<Parameters<typeof planStall>[0]> {
  readonly gangs?: readonly PodGang[]
}

const plan = ({ gangs = [], ...more }: Given = {}) => {
  const gangObstacles = gangs.flatMap(one => gangObstacle(one) ?? [])
  return planStall({ lastErrors: [], obstacles: [], gangObstacles, update: undefined, now: due, ...more })
}

const failing: Obstacle = { value: stalled.podsFailing('serving/w-0-a', 'It failed twice'), since: start }
const failed: Obstacle = { value: stalled.failed('PodClique serving/w-0-a: quota'), since: start }

describe('the cause for which a set is stalled', () => {
  const table: [name: string, given: Given, expected: string | undefined][] = [
    ['none', {}, undefined],
    [
      'a gang that does not fit',
      { gangs: [gang('w-0', 'Bound'), gang('w-1', 'Unschedulable'), gang('w-2', 'InsufficientCapacity')] },
      'GangUnschedulable: PodGang serving/w-1 cannot be scheduled: no room',
    ],
    [
      'no cause for a gang that starts normally',
      {
        gangs: ['PodsGated', 'PodsNotCreated', 'Binding', 'NotYetEvaluated'].map(reason =>
          gang('w-0', reason),
        ),
      },
      undefined,
    ],
    ['an error of the set', { lastErrors: [error('no quota'), error('b')] }, 'ReconcileFailed: no quota'],
    [
      'a limit, at once',
      { lastErrors: [error('too many', setErrorCode.limitExceeded)], now: since },
      'LimitExceeded: too many',
    ],
    [
      'an error of a clique',
      { obstacles: [failing, failed] },
      'ReconcileFailed: PodClique serving/w-0-a: quota',
    ],
    [
      'failing pods',
      { obstacles: [failing] },
      'PodsFailing: Pods of PodClique serving/w-0-a fail. It failed twice. Read their logs',
    ],
    [
      'errors before gangs before failing pods',
      { obstacles: [failing], gangs: [gang('w-0', 'Unschedulable')] },
      'GangUnschedulable: PodGang serving/w-0 cannot be scheduled: no room',
    ],
    [
      'errors before gangs',
      { obstacles: [failed], gangs: [gang('w-0', 'Unschedulable')] },
      'ReconcileFailed: PodClique serving/w-0-a: quota',
    ],
    [
      'an update past its deadline',
      { update: updating('False', 'ProgressDeadlineExceeded') },
      'ProgressDeadlineExceeded: waits',
    ],
    ['no cause for an update that progresses', { update: updating('True', 'Replacing') }, undefined],
  ]
  for (const [name, given, expected] of table)
    test(name, () => {
      const { condition } = plan(given)
      assert.equal(condition && `${condition.reason}: ${condition.message}`, expected)
    })

  test('is reported after a delay; until then the result has a deadline', () => {
    const gangs = [gang('w-1', 'Unschedulable', 'no room', early), gang('w-0', 'Unschedulable')]
    assert.deepEqual(plan({ gangs, now: early }), {
      condition: undefined,
      deadline: start + stalledAfterMs,
    })
    assert.match(plan({ gangs }).condition?.message ?? '', /w-0/)
  })

  test('is not delayed by a time in the future, which another clock wrote', () => {
    const gangs = [gang('w-0', 'Unschedulable', 'no room', timeAt(start + 3_600_000))]
    assert.equal(plan({ gangs }).deadline, Date.parse(due) + stalledAfterMs)
  })
})

function updating(status: ConditionValue['status'], reason: string): ConditionValue {
  return { type: 'UpdateProgressing', status, reason, message: 'waits' }
}

describe('the obstacles of a replica', () => {
  const set = sampleSet({ cliques: [clique('web'), clique('work')], groups: [group('g', ['work'])] })
  const member = (status: object) =>
    ({ metadata: { name: 'w-0-g-0-work', namespace: 'serving' }, status }) as PodClique
  const obstacles = (given: { web?: object; group?: object; member?: object }) =>
    replicaObstacles(set, 0, {
      cliqueNamed: name => ({ metadata: { name, namespace: 'serving' }, status: given.web }) as PodClique,
      groupNamed: name =>
        ({
          metadata: { name, namespace: 'serving' },
          spec: { replicas: 1 },
          status: given.group,
        }) as PodCliqueScalingGroup,
      membersOf: () => [member(given.member ?? {})],
    }).map(({ value }) => `${value.reason}: ${value.message}`)
  const lastErrors = [error('rejected')]
  const conditions = [
    {
      type: 'PodsFailing',
      status: 'True',
      reason: 'BackOff',
      message: 'It fails',
      lastTransitionTime: since,
    },
  ]

  test('are errors of groups and cliques, then failing pods', () => {
    assert.deepEqual(obstacles({}), [])
    assert.deepEqual(
      obstacles({ web: { lastErrors, conditions }, group: { lastErrors }, member: { conditions } }),
      [
        'ReconcileFailed: PodCliqueScalingGroup serving/w-0-g: rejected',
        'ReconcileFailed: PodClique serving/w-0-web: rejected',
        'PodsFailing: Pods of PodClique serving/w-0-web fail. It fails. Read their logs',
        'PodsFailing: Pods of PodClique serving/w-0-g-0-work fail. It fails. Read their logs',
      ],
    )
    const recovered = [{ ...conditions[0], status: 'False' }]
    assert.deepEqual(obstacles({ web: { conditions: recovered } }), [])
  })

  test('do not include members of a group whose replicas are all available', () => {
    assert.deepEqual(obstacles({ group: { availableReplicas: 1 }, member: { lastErrors } }), [])
  })
})

describe('the event about a gang that cannot be scheduled', () => {
  const conditionOf = (value: ConditionValue): Condition[] => [{ ...value, lastTransitionTime: since }]
  const unschedulable = (cause: string, name = 'serving/w-0') =>
    conditionOf(stalled.gangUnschedulable(name, cause))

  test('is emitted once for each cause', () => {
    const first = unschedulable('0/5 nodes are available: 5 Insufficient cpu')
    assert.deepEqual(stallEvent(undefined, first), {
      type: 'Warning',
      reason: 'GangUnschedulable',
      message: 'PodGang serving/w-0 cannot be scheduled: 0/5 nodes are available: 5 Insufficient cpu',
    })
    assert.equal(stallEvent(first, first), undefined)
    assert.equal(stallEvent(first, unschedulable('0/6 nodes are available: 6 Insufficient cpu')), undefined)
    assert.equal(stallEvent(first, undefined), undefined)
    assert.ok(stallEvent(first, unschedulable('0/5 nodes are available: 5 Insufficient memory')))
    assert.ok(stallEvent(conditionOf(stalled.failed('x')), first))
  })

  test('is not emitted for other causes, which have their own events', () =>
    assert.equal(stallEvent(undefined, conditionOf(stalled.failed('x'))), undefined))

  test('is emitted once for each run of equal causes, even if the operator restarts', () => {
    const cause = fc.constantFrom(undefined, 'no cpu', 'no memory')
    fc.assert(
      fc.property(fc.array(cause, { maxLength: 20 }), causes => {
        const conditions = causes.map(one => (one === undefined ? undefined : unschedulable(one)))
        const emitted = conditions.filter((after, at) => stallEvent(conditions[at - 1], after)).length
        const runs = causes.filter((one, at) => one !== undefined && one !== causes[at - 1]).length
        assert.equal(emitted, runs)
      }),
    )
  })
})
