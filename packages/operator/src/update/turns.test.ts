// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodCliqueSetUpdateStrategy } from '@grove/api'
import type { ReplicaUpdateState } from './replica-update.ts'
import { planTurns } from './turns.ts'

/**
 * `.` outdated and serving, `-` outdated and not serving, `x` done, `?` up to date and starting, `p` up to date
 * and without a place for some of its pods, `P` the same and serving, `~` serving, with a status that is older
 * than its pods, which are up to date.
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
    isPlaced: state !== 'p' && state !== 'P',
    scheduledPods: 1,
    isOutdated: () => state === '.' || state === '-',
    waitsFor: undefined,
  }
}

interface Case {
  readonly name: string
  readonly strategy: PodCliqueSetUpdateStrategy
  /** The surge replicas that there are stand behind a `+`. */
  readonly states: string
  readonly begun?: readonly number[]
  readonly next?: readonly number[]
  readonly surge?: number
  readonly nextSurge?: readonly number[]
}

const none: PodCliqueSetUpdateStrategy = { maxUnavailable: 0, maxSurge: 1 }
const one: PodCliqueSetUpdateStrategy = { maxUnavailable: 1, maxSurge: 1 }

const cases: Case[] = [
  { name: 'without surge replicas one goes after the other', strategy: {}, states: '...', next: [0] },
  {
    name: 'nothing of both, which nobody lets in, is one',
    strategy: { maxUnavailable: 0 },
    states: '..',
    next: [0],
  },
  {
    name: 'first another one is made',
    strategy: none,
    states: '...',
    surge: 1,
    nextSurge: [3],
  },
  { name: 'until it serves nothing goes', strategy: none, states: '...+?', begun: [3], surge: 1 },
  { name: 'when it serves one goes', strategy: none, states: '...+x', next: [0], surge: 1 },
  { name: 'and no second one', strategy: none, states: '-..+x', begun: [0], surge: 1 },
  { name: 'when that is back the next goes', strategy: none, states: 'x..+x', next: [1], surge: 1 },
  { name: 'it stays while the last one goes', strategy: none, states: 'xx.+x', next: [2], surge: 1 },
  { name: 'and until that is back', strategy: none, states: 'xx?+x', begun: [2], surge: 1 },
  { name: 'then it goes', strategy: none, states: 'xxx+x' },
  {
    name: 'what serves nobody goes at once and needs nobody to stand in',
    strategy: none,
    states: 'x-x',
    next: [1],
  },
  {
    name: 'what fails while others are updated is waited for',
    strategy: none,
    states: '?..+x',
    begun: [0],
    surge: 1,
  },
  {
    name: 'when what stands in fails nothing more goes',
    strategy: none,
    states: 'x..+?',
    surge: 1,
  },
  {
    name: 'where one may be missing another one is made all the same',
    strategy: one,
    states: '...',
    surge: 1,
    nextSurge: [3],
  },
  { name: 'nothing goes whose place it could take', strategy: one, states: '...+p', begun: [3], surge: 1 },
  { name: 'also when only a part of it waits', strategy: one, states: '...+P', surge: 1 },
  {
    name: 'one goes while it starts',
    strategy: one,
    states: '...+?',
    begun: [3],
    next: [0],
    surge: 1,
  },
  { name: 'then two', strategy: one, states: '-..+x', begun: [0], next: [1], surge: 1 },
  { name: 'and not three', strategy: one, states: '--..+x', begun: [0, 1], surge: 1 },
  {
    name: 'what serves nobody is back before another one takes its place',
    strategy: none,
    states: '..-',
    next: [2],
  },
  { name: 'and not made meanwhile', strategy: none, states: '..?', begun: [2] },
  {
    name: 'more are made when nothing is under way',
    strategy: { maxUnavailable: 0, maxSurge: 2 },
    states: 'x..+x',
    surge: 2,
    nextSurge: [4],
  },
  {
    name: 'until then nothing else begins',
    strategy: { maxUnavailable: 0, maxSurge: 2 },
    states: 'x?..+x',
    begun: [1],
    surge: 1,
  },
  {
    name: 'a single one that may go needs nobody to stand in',
    strategy: one,
    states: '.',
    next: [0],
  },
  {
    name: 'where nothing more is to go it makes room for what waits for a place',
    strategy: one,
    states: 'xx?+x',
    begun: [2],
  },
  {
    name: 'as far as it is not needed',
    strategy: { maxUnavailable: 0, maxSurge: 2 },
    states: 'xx?+xx',
    begun: [2],
    surge: 1,
  },
  {
    name: 'no more are made than there are replicas to go',
    strategy: { maxUnavailable: 0, maxSurge: 9 },
    states: 'x..',
    surge: 2,
    nextSurge: [3, 4],
  },
  {
    name: 'with as many as there are replicas all go at once',
    strategy: { maxUnavailable: 0, maxSurge: 9 },
    states: '..+xx',
    next: [0, 1],
    surge: 2,
  },
  {
    name: 'one of a template of before stands in as well as any',
    strategy: none,
    states: '..+.',
    next: [0],
    surge: 1,
  },
  {
    name: 'unless it serves nobody: then it follows',
    strategy: none,
    states: '..+-',
    surge: 1,
    nextSurge: [2],
  },
  {
    name: 'one that was taken back before anything else was touched goes',
    strategy: none,
    states: 'xx+-',
    begun: [2],
  },
  {
    name: 'where only statuses are late nobody has to stand in, and nothing begins',
    strategy: none,
    states: '~~',
  },
  {
    name: 'what is up to date and fails has no turn',
    strategy: { maxUnavailable: 1, maxSurge: 1 },
    states: 'x?..+x',
    next: [2],
    surge: 1,
  },
  { name: 'while it waits for a place none is made', strategy: none, states: 'xp..' },
  { name: 'when it has one, one is made', strategy: none, states: 'x?..', surge: 1, nextSurge: [4] },
  { name: 'what stands in for it stays', strategy: none, states: 'xx?+x', surge: 1 },
  { name: 'a paused update makes none', strategy: { ...none, paused: true }, states: '..' },
  {
    name: 'and keeps those that there are',
    strategy: { ...none, paused: true },
    states: '..+-',
    surge: 1,
  },
  { name: 'none is made for what is held back', strategy: { ...none, partition: 2 }, states: '..' },
  {
    name: 'those above the partition are updated with it',
    strategy: { ...none, partition: 1 },
    states: '..+x',
    next: [1],
    surge: 1,
  },
  {
    name: 'it goes when only what is held back is left',
    strategy: { ...none, partition: 1 },
    states: '.x+x',
  },
]

for (const { name, strategy, states, begun = [], next = [], surge = 0, nextSurge = [] } of cases)
  test(`${name}: ${states} with ${JSON.stringify(strategy)}`, () => {
    const [ordinary = '', beyond = ''] = states.split('+')
    const plan = planTurns({
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
