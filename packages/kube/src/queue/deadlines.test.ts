// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { newQueue, takeAll } from '../testing/test-queue.ts'

describe('the deadline of a key', () => {
  it('is replaced by the next one, earlier or later', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ ms: fc.integer({ min: 1, max: 100 }), isTime: fc.boolean() }), { minLength: 1 }),
        async all => {
          const { clock, queue } = newQueue()
          for (const { ms, isTime } of all)
            if (isTime) queue.addAt('a', clock.now() + ms)
            else queue.addAfter('a', ms)
          const last = all.at(-1)!.ms
          assert.equal(queue.delayed, 1)
          await clock.advance(last - 1)
          assert.equal(queue.depth, 0)
          await clock.advance(1)
          assert.deepEqual(takeAll(queue), ['a'])
          await clock.advance(200)
          assert.equal(queue.depth, 0)
        },
      ),
      { numRuns: 50 },
    )
  })

  it('is only moved forward by the NoLaterThan methods', async () => {
    const { clock, queue } = newQueue()
    queue.addNoLaterThan('a', clock.now() + 50)
    queue.addNoLaterThan('a', clock.now() + 90)
    queue.addNoLaterThanAfter('a', 70)
    await clock.advance(49)
    assert.equal(queue.depth, 0)
    queue.addNoLaterThanAfter('b', 30)
    queue.addNoLaterThanAfter('b', 10)
    queue.addNoLaterThanAfter('b', 20)
    queue.addNoLaterThan('b', clock.now() + 20)
    await clock.advance(1)
    assert.deepEqual(takeAll(queue), ['a'])
    await clock.advance(9)
    assert.deepEqual(takeAll(queue), ['b'])
  })

  it('is consumed by a take, so that the following reconcile decides about the next one', async () => {
    const { clock, queue } = newQueue()
    queue.addAfter('a', 100)
    queue.add('a')
    assert.equal(queue.takeNow(), 'a')
    queue.addAfter('a', 200)
    queue.done('a')
    await clock.advance(199)
    assert.equal(queue.depth, 0)
    await clock.advance(1)
    assert.equal(queue.depth, 1)
  })

  it('enqueues the key again if it is due while the key is being processed', async () => {
    const { clock, queue } = newQueue()
    queue.add('a')
    assert.equal(queue.takeNow(), 'a')
    queue.addAfter('a', 5)
    await clock.advance(5)
    assert.equal(queue.depth, 0)
    queue.done('a')
    assert.equal(queue.takeNow(), 'a')
  })

  it('follows the wall clock if given as a time, but not if given as a duration', async () => {
    const { clock, queue } = newQueue()
    const hour = 3_600_000
    queue.addAt('time', clock.now() + 4 * hour)
    queue.addAfter('span', 4 * hour)
    clock.shiftWallClock(3 * hour)
    await clock.advance(hour + 60_000)
    assert.deepEqual(takeAll(queue), ['time'])
    queue.addAt('time', clock.now() + hour)
    clock.shiftWallClock(-hour)
    await clock.advance(hour + 60_000)
    assert.deepEqual(takeAll(queue), [])
    await clock.advance(hour)
    assert.deepEqual(takeAll(queue), ['time'])
    await clock.advance(hour)
    assert.deepEqual(takeAll(queue), ['span'])
  })
})

describe('back-off', () => {
  it('doubles per key up to the cap, and starts over after forget', () => {
    const { queue } = newQueue({ backoff: { baseMs: 10, capMs: 100, jitter: 0 } })
    assert.deepEqual(
      Array.from({ length: 6 }, () => queue.retry('a')),
      [10, 20, 40, 80, 100, 100],
    )
    assert.equal(queue.retry('b'), 10)
    assert.equal(queue.failuresOf('a'), 6)
    queue.forget('a')
    assert.equal(queue.retry('a'), 10)
  })

  it('is shortened by jitter, never lengthened', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.integer({ min: 1, max: 40 }),
        (r, times) => {
          const { queue } = newQueue({ backoff: { baseMs: 10, capMs: 1_000, jitter: 0.5 }, random: () => r })
          for (let i = 1; i <= times; i++) {
            const full = Math.min(1_000, 10 * 2 ** (i - 1))
            const delay = queue.retry('a')
            assert.ok(delay <= full && delay >= full / 2)
          }
        },
      ),
    )
  })

  it('does not delay a key that has changed', () => {
    const { queue } = newQueue()
    queue.add('a')
    queue.takeNow()
    queue.retry('a')
    queue.done('a')
    queue.add('a', 'user')
    assert.equal(queue.takeNow(), 'a')
  })
})
