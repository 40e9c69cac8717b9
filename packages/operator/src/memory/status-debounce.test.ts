// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '@grove/kube'
import { statusDebounceMs } from '../timings/timings.ts'
import { StatusDebounce } from './status-debounce.ts'

describe('the debounce of statuses', () => {
  test('delays the first change by the full time', () => {
    assert.equal(new StatusDebounce(new FakeClock()).delayMs('a'), statusDebounceMs)
  })

  test('does not extend the delay when further changes arrive', async () => {
    const clock = new FakeClock()
    const debounce = new StatusDebounce(clock)
    debounce.delayMs('a')
    await clock.advance(statusDebounceMs - 100)
    assert.equal(debounce.delayMs('a'), 100)
    await clock.advance(100)
    assert.equal(debounce.delayMs('a'), 0)
    await clock.advance(1_000)
    assert.equal(debounce.delayMs('a'), 0)
  })

  test('starts a new delay for a change after the write', async () => {
    const clock = new FakeClock()
    const debounce = new StatusDebounce(clock)
    debounce.delayMs('a')
    await clock.advance(statusDebounceMs)
    debounce.clear('a')
    assert.equal(debounce.delayMs('a'), statusDebounceMs)
  })

  test('delays every object by the same time, however many are pending', () => {
    const debounce = new StatusDebounce(new FakeClock())
    const delays = Array.from({ length: 5_000 }, (_, index) => debounce.delayMs(`uid-${index}`))
    assert.deepEqual(new Set(delays), new Set([statusDebounceMs]))
  })

  test('keeps no state of an object without a pending status', () => {
    const debounce = new StatusDebounce(new FakeClock())
    debounce.delayMs('a')
    debounce.clear('a')
    assert.equal(debounce.size, 0)
  })
})
