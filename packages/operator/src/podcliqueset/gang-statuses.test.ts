// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PodGang } from '@grove/api'
import { longestCause } from '../state/pod-state.ts'
import { gangStatuses, gangSummary, mostGangStatuses } from './gang-statuses.ts'

const time = '2030-01-01T00:00:00Z'

function gang(name: string, phase?: 'Pending' | 'Running', scheduled?: 'True' | 'False'): PodGang {
  const condition = {
    type: 'Scheduled',
    status: scheduled,
    reason: 'R',
    message: 'm',
    observedGeneration: 3,
    lastTransitionTime: time,
  }
  return {
    metadata: { name },
    ...(phase && { status: { phase, ...(scheduled && { conditions: [condition] }) } }),
  } as PodGang
}

function statusesOf(gangs: Iterable<PodGang>) {
  return gangStatuses(Iterator.from(gangs).map(gangSummary))
}

describe('the list of gangs in the status of a set', () => {
  test('contains the phase of each gang, and the cause for which it is pending', () =>
    assert.deepEqual(statusesOf([gang('a', 'Running', 'True'), gang('b', 'Pending', 'False'), gang('c')]), [
      { name: 'a', phase: 'Running' },
      {
        name: 'b',
        phase: 'Pending',
        conditions: [
          { type: 'Scheduled', status: 'False', reason: 'R', message: 'm', lastTransitionTime: time },
        ],
      },
      { name: 'c', phase: 'Pending' },
    ]))

  test('holds only values that the API server accepts, whatever a scheduler writes', () => {
    const strange = {
      metadata: { name: 'a' },
      status: {
        phase: 'Preempted' as 'Pending',
        conditions: [
          {
            type: 'Scheduled',
            status: 'False',
            reason: 'R',
            message: 'm'.repeat(32_768),
            lastTransitionTime: time,
          },
        ],
      },
    } as PodGang
    const [listed] = statusesOf([strange])
    assert.equal(listed?.phase, 'Pending')
    assert.equal(listed.conditions?.[0]?.message.length, longestCause)
  })

  test('keeps the order of the gangs while all fit', () => {
    const gangs = Array.from({ length: mostGangStatuses }, (_, at) =>
      gang(`g${at}`, at % 2 ? 'Running' : 'Pending'),
    )
    assert.deepEqual(
      statusesOf(gangs).map(({ name }) => name),
      gangs.map(({ metadata }) => metadata.name),
    )
  })

  test('is bounded, and then lists gangs first that are not Running', () => {
    const gangs = Array.from({ length: 5_000 }, (_, at) => gang(`g${at}`, at < 4_997 ? 'Running' : 'Pending'))
    const listed = statusesOf(gangs)
    assert.equal(listed.length, mostGangStatuses)
    assert.deepEqual(
      listed.slice(0, 4).map(({ name }) => name),
      ['g4997', 'g4998', 'g4999', 'g0'],
    )
  })

  test('reads no more gangs than necessary if none is Running', () => {
    let seen = 0
    const endless = (function* () {
      for (;;) yield gang(`g${seen++}`, 'Pending')
    })()
    assert.equal(statusesOf(endless).length, mostGangStatuses)
    assert.equal(seen, mostGangStatuses + 1)
  })
})
