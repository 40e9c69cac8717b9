// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodCliqueSetUpdateStrategy } from '@grove/api'
import { selectReplicas } from './replica-selection.ts'
import type { ReplicaUpdateState } from './replica-state.ts'

/**
 * `.` outdated and serving, `-` outdated and not serving, `x` done, `?` up to date and starting, `p` up to date with
 * some unscheduled pods, `P` the same and serving, `~` serving, all pods up to date, with an outdated status.
 */
type Replica = '.' | '-' | 'x' | '?' | 'p' | 'P' | '~'

function stateOf(state: Replica, replica: number): ReplicaUpdateState {
  const isServing = ['.', 'x', 'P', '~'].includes(state)
  return {
    replica,
    isDone: state === 'x' || state === 'P',
    isUpToDate: ['x', '?', 'p', 'P'].includes(state),
    isAvailable: isServing,
    isServing,
    isScheduled: state !== 'p' && state !== 'P',
    scheduledPods: 1,
    isOutdated: () => state === '.' || state === '-',
    waitsFor: undefined,
  }
}

interface Case {
  readonly name: string
  readonly strategy: PodCliqueSetUpdateStrategy
  /** Surge replicas follow the `+`. */
  readonly states: string
  readonly begun?: readonly number[]
  readonly next?: readonly number[]
  readonly surge?: number
  readonly nextSurge?: readonly number[]
}

const none: PodCliqueSetUpdateStrategy = { maxUnavailable: 0, maxSurge: 1 }
const one: PodCliqueSetUpdateStrategy = { maxUnavailable: 1, maxSurge: 1 }

const cases: Case[] = [
  { name: 'without surge, replicas are updated one at a time', strategy: {}, states: '...', next: [0] },
  {
    name: 'maxUnavailable 0 without surge, which admission rejects, counts as 1',
    strategy: { maxUnavailable: 0 },
    states: '..',
    next: [0],
  },
  {
    name: 'a surge replica is created first',
    strategy: none,
    states: '...',
    surge: 1,
    nextSurge: [3],
  },
  {
    name: 'no replica is selected until the surge replica serves',
    strategy: none,
    states: '...+?',
    begun: [3],
    surge: 1,
  },
  {
    name: 'one replica is selected when the surge replica serves',
    strategy: none,
    states: '...+x',
    next: [0],
    surge: 1,
  },
  {
    name: 'no second replica is selected before the first is done',
    strategy: none,
    states: '-..+x',
    begun: [0],
    surge: 1,
  },
  {
    name: 'the next replica is selected when the first is done',
    strategy: none,
    states: 'x..+x',
    next: [1],
    surge: 1,
  },
  {
    name: 'the surge replica stays while the last replica is selected',
    strategy: none,
    states: 'xx.+x',
    next: [2],
    surge: 1,
  },
  {
    name: 'the surge replica stays until the last replica serves',
    strategy: none,
    states: 'xx?+x',
    begun: [2],
    surge: 1,
  },
  { name: 'the surge replica is deleted when all replicas are done', strategy: none, states: 'xxx+x' },
  {
    name: 'a replica that does not serve is selected at once, without a surge replica',
    strategy: none,
    states: 'x-x',
    next: [1],
  },
  {
    name: 'the update waits for a selected replica that does not serve',
    strategy: none,
    states: '?..+x',
    begun: [0],
    surge: 1,
  },
  {
    name: 'no replica is selected while the surge replica does not serve',
    strategy: none,
    states: 'x..+?',
    surge: 1,
  },
  {
    name: 'a surge replica is created first although one replica may be unavailable',
    strategy: one,
    states: '...',
    surge: 1,
    nextSurge: [3],
  },
  {
    name: 'no replica is selected while the surge replica is unscheduled',
    strategy: one,
    states: '...+p',
    begun: [3],
    surge: 1,
  },
  {
    name: 'no replica is selected while a part of the surge replica is unscheduled',
    strategy: one,
    states: '...+P',
    surge: 1,
  },
  {
    name: 'maxUnavailable 1: one replica is selected while the surge replica starts',
    strategy: one,
    states: '...+?',
    begun: [3],
    next: [0],
    surge: 1,
  },
  {
    name: 'maxUnavailable 1 and a serving surge replica: two replicas at a time',
    strategy: one,
    states: '-..+x',
    begun: [0],
    next: [1],
    surge: 1,
  },
  {
    name: 'maxUnavailable 1 and a serving surge replica: no third replica',
    strategy: one,
    states: '--..+x',
    begun: [0, 1],
    surge: 1,
  },
  {
    name: 'a replica that does not serve is selected before a surge replica is created',
    strategy: none,
    states: '..-',
    next: [2],
  },
  {
    name: 'no surge replica is created while that replica starts',
    strategy: none,
    states: '..?',
    begun: [2],
  },
  {
    name: 'another surge replica is created while no replica is being updated',
    strategy: { maxUnavailable: 0, maxSurge: 2 },
    states: 'x..+x',
    surge: 2,
    nextSurge: [4],
  },
  {
    name: 'no replica is selected and no surge replica is created while one is being updated',
    strategy: { maxUnavailable: 0, maxSurge: 2 },
    states: 'x?..+x',
    begun: [1],
    surge: 1,
  },
  {
    name: 'maxUnavailable 1: a single replica needs no surge replica',
    strategy: one,
    states: '.',
    next: [0],
  },
  {
    name: 'a surge replica that is not needed any more frees its nodes',
    strategy: one,
    states: 'xx?+x',
    begun: [2],
  },
  {
    name: 'only surge replicas that are not needed are deleted',
    strategy: { maxUnavailable: 0, maxSurge: 2 },
    states: 'xx?+xx',
    begun: [2],
    surge: 1,
  },
  {
    name: 'no more surge replicas than outdated replicas are created',
    strategy: { maxUnavailable: 0, maxSurge: 9 },
    states: 'x..',
    surge: 2,
    nextSurge: [3, 4],
  },
  {
    name: 'as many surge replicas as replicas: all are selected at once',
    strategy: { maxUnavailable: 0, maxSurge: 9 },
    states: '..+xx',
    next: [0, 1],
    surge: 2,
  },
  {
    name: 'a surge replica with an earlier template counts as a replacement as well',
    strategy: none,
    states: '..+.',
    next: [0],
    surge: 1,
  },
  {
    name: 'a surge replica with an earlier template that does not serve is updated',
    strategy: none,
    states: '..+-',
    surge: 1,
    nextSurge: [2],
  },
  {
    name: 'a reverted change deletes the surge replica',
    strategy: none,
    states: 'xx+-',
    begun: [2],
  },
  {
    name: 'an outdated status alone selects nothing and creates no surge replica',
    strategy: none,
    states: '~~',
  },
  {
    name: 'a replica that is up to date and does not serve is not selected',
    strategy: { maxUnavailable: 1, maxSurge: 1 },
    states: 'x?..+x',
    next: [2],
    surge: 1,
  },
  { name: 'no surge replica is created while a replica is unscheduled', strategy: none, states: 'xp..' },
  {
    name: 'a surge replica is created when that replica is scheduled',
    strategy: none,
    states: 'x?..',
    surge: 1,
    nextSurge: [4],
  },
  { name: 'keeps the surge replica that replaces a replica', strategy: none, states: 'xx?+x', surge: 1 },
  { name: 'a paused update creates no surge replica', strategy: { ...none, paused: true }, states: '..' },
  {
    name: 'a paused update keeps its surge replicas',
    strategy: { ...none, paused: true },
    states: '..+-',
    surge: 1,
  },
  {
    name: 'no surge replica is created for replicas below the partition',
    strategy: { ...none, partition: 2 },
    states: '..',
  },
  {
    name: 'replicas above the partition are updated with a surge replica',
    strategy: { ...none, partition: 1 },
    states: '..+x',
    next: [1],
    surge: 1,
  },
  {
    name: 'the surge replica is deleted when only replicas below the partition are left',
    strategy: { ...none, partition: 1 },
    states: '.x+x',
  },
]

for (const { name, strategy, states, begun = [], next = [], surge = 0, nextSurge = [] } of cases)
  test(`${name}: ${states} with ${JSON.stringify(strategy)}`, () => {
    const [ordinary = '', beyond = ''] = states.split('+')
    const plan = selectReplicas({
      strategy,
      replicas: ordinary.length,
      states: [...ordinary, ...beyond].map((state, replica) => stateOf(state as Replica, replica)),
      begun,
      surge: beyond.length,
    })
    assert.deepEqual(
      { next: plan.next, surge: plan.surge, nextSurge: plan.nextSurge },
      { next, surge, nextSurge },
    )
  })

test('OnDelete selects nothing', () => {
  const states = [...'.-'].map((state, replica) => stateOf(state as Replica, replica))
  const strategy = { type: 'OnDelete', maxSurge: 1 } as const
  assert.deepEqual(selectReplicas({ strategy, replicas: 2, states, begun: [], surge: 0 }), {
    next: [],
    surge: 0,
    nextSurge: [],
    isWaiting: true,
  })
})
