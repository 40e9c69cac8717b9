// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { systemClock } from './clock.ts'
import { FakeClock } from './fake-clock.ts'

describe('FakeClock', () => {
  it('fires timers in the order of their due times, ties in the order they were set', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(50), { maxLength: 40 }), async delays => {
        const clock = new FakeClock()
        const fired: number[] = []
        delays.forEach((delay, index) => {
          clock.setTimeout(() => fired.push(index), delay)
        })
        await clock.advance(50)
        const wanted = delays.map((delay, index) => ({ delay, index })).sort((a, b) => a.delay - b.delay)
        assert.deepEqual(
          fired,
          wanted.map(({ index }) => index),
        )
        assert.equal(clock.pendingTimers, 0)
      }),
    )
  })

  it('lets a resumed loop set its next timer before time advances', async () => {
    const clock = new FakeClock(1_000)
    const seen: number[] = []
    const loop = async () => {
      for (let i = 0; i < 3; i++) {
        await clock.sleep(10)
        seen.push(clock.now())
      }
    }
    const done = loop()
    await clock.advance(100)
    await done
    assert.deepEqual(seen, [1_010, 1_020, 1_030])
    assert.equal(clock.now(), 1_100)
  })

  it('fires neither timers that are not due nor cancelled ones', async () => {
    const clock = new FakeClock()
    let fired = 0
    clock.setTimeout(() => fired++, 11)
    clock.setTimeout(() => fired++, 5).cancel()
    await clock.advance(10)
    assert.equal(fired, 0)
    assert.equal(clock.untilNextTimer, 1)
    assert.equal(await clock.advanceToNextTimer(), true)
    assert.equal(fired, 1)
    assert.equal(await clock.advanceToNextTimer(), false)
  })

  it('ends a sleep with the reason of its signal and leaves no timer behind', async () => {
    const clock = new FakeClock()
    const stop = new AbortController()
    const sleeping = clock.sleep(1_000, stop.signal)
    stop.abort(new Error('stopped'))
    await assert.rejects(sleeping, /stopped/)
    assert.equal(clock.pendingTimers, 0)
    await assert.rejects(clock.sleep(1, stop.signal), /stopped/)
  })

  it('changes the wall clock without moving the monotonic one', async () => {
    const clock = new FakeClock(0)
    await clock.advance(5)
    clock.shiftWallClock(-3)
    assert.equal(clock.now(), 2)
    assert.equal(clock.monotonic(), 5)
  })
})

describe('systemClock', () => {
  it('does not fire a timer of more than 24 days at once', async () => {
    let fired = false
    const timer = systemClock.setTimeout(
      () => {
        fired = true
      },
      2 ** 31 + 1_000,
    )
    await systemClock.sleep(5)
    timer.cancel()
    assert.equal(fired, false)
  })
})
