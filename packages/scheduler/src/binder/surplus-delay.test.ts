// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { GangDecision, PodBinding, Verdict } from '../types.ts'
import { SurplusDelay, surplusDelayMs } from './surplus-delay.ts'

const binding = (part: 'minimum' | 'surplus') => ({ part }) as PodBinding
const gang = (verdict: Verdict) => ({ verdict }) as GangDecision
const surplus = [binding('minimum'), binding('surplus')]

describe('surplus pods', () => {
  test('are bound at once while no gang waits', () => {
    const due = new SurplusDelay().due({ bindings: surplus, gangs: [gang('Scheduled')], missingGangs: [] }, 0)
    assert.deepEqual(due, { bindings: surplus, retryInMs: undefined })
  })

  test('are held back while a gang waits, and the minimum is not', () => {
    const due = new SurplusDelay().due(
      { bindings: surplus, gangs: [gang('Unschedulable')], missingGangs: [] },
      0,
    )
    assert.deepEqual(due, { bindings: [binding('minimum')], retryInMs: surplusDelayMs })
  })

  test('are bound after the delay, although events arrived meanwhile', () => {
    const delay = new SurplusDelay()
    const decision = { bindings: surplus, gangs: [gang('Blocked')], missingGangs: [] }
    delay.due(decision, 0)
    assert.equal(delay.due(decision, 400).retryInMs, surplusDelayMs - 400)
    assert.deepEqual(delay.due(decision, surplusDelayMs).bindings, surplus)
  })

  test('wait again for the full time when the room was taken by a gang meanwhile', () => {
    const delay = new SurplusDelay()
    const decision = { bindings: surplus, gangs: [gang('Unschedulable')], missingGangs: [] }
    delay.due(decision, 0)
    delay.due({ bindings: [binding('minimum')], gangs: [gang('Scheduled')], missingGangs: [] }, 500)
    assert.equal(delay.due(decision, 900).retryInMs, surplusDelayMs)
  })
})
