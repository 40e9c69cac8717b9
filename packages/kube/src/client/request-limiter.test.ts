// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { FakeClock } from '../clock/index.ts'
import type { Priority } from '../queue/index.ts'
import { RequestLimiter } from './request-limiter.ts'

describe('RequestLimiter', () => {
  it('limits the requests in flight and keeps their order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.nat(20), { maxLength: 40 }),
        async (maxInFlight, durations) => {
          const clock = new FakeClock()
          const limiter = new RequestLimiter({ clock, maxInFlight })
          const admitted: number[] = []
          const requests = durations.map(async (duration, index) => {
            await limiter.enter()
            admitted.push(index)
            assert.ok(limiter.inFlight <= maxInFlight)
            await clock.sleep(duration)
            limiter.leave()
          })
          await clock.advance(20 * durations.length + 1)
          await Promise.all(requests)
          assert.deepEqual(admitted, [...durations.keys()])
          assert.equal(limiter.inFlight, 0)
        },
      ),
    )
  })

  it('enforces the rate limit and allows the burst', async () => {
    const clock = new FakeClock()
    const limiter = new RequestLimiter({ clock, maxInFlight: 1_000, rateLimit: { qps: 10, burst: 3 } })
    const admittedAt: number[] = []
    for (let i = 0; i < 8; i++)
      void (async () => {
        await limiter.enter()
        admittedAt.push(clock.monotonic())
        limiter.leave()
      })()
    await clock.advance(1_000)
    assert.deepEqual(admittedAt, [0, 0, 0, 100, 200, 300, 400, 500])
  })

  it('stops when the server throttles, continues with half the limit, and grows back', async () => {
    const clock = new FakeClock()
    const limiter = new RequestLimiter({ clock, maxInFlight: 8 })
    for (let i = 0; i < 8; i++) assert.equal(limiter.enter(), undefined)
    limiter.slowDown(1_000)
    limiter.slowDown(500)
    assert.equal(limiter.allowed, 4)
    for (let i = 0; i < 8; i++) limiter.leave()
    let admitted = false
    void limiter.enter()?.then(() => {
      admitted = true
    })
    await clock.advance(999)
    assert.equal(admitted, false)
    await clock.advance(1)
    assert.equal(admitted, true)
    for (let i = 0; i < 50; i++) limiter.leave()
    assert.equal(limiter.allowed, 8)
  })

  it('always allows one request, after any number of slow-downs', async () => {
    const clock = new FakeClock()
    const limiter = new RequestLimiter({ clock, maxInFlight: 2 })
    for (let i = 0; i < 10; i++) {
      limiter.slowDown(10)
      await clock.advance(10)
    }
    assert.equal(limiter.allowed, 1)
    assert.equal(limiter.enter(), undefined)
  })

  it('drops a request whose signal is aborted and does not count it', async () => {
    const clock = new FakeClock()
    const limiter = new RequestLimiter({ clock, maxInFlight: 1 })
    limiter.enter()
    const stop = new AbortController()
    const rejected = limiter.enter(stop.signal)
    const next = limiter.enter()
    stop.abort(new Error('no longer wanted'))
    await assert.rejects(rejected!, /no longer wanted/)
    limiter.leave()
    await next
    assert.equal(limiter.inFlight, 1)
    assert.equal(limiter.waiting, 0)
  })

  it('prefers urgent priorities, and lets owners take turns', async () => {
    const limiter = new RequestLimiter({ clock: new FakeClock(), maxInFlight: 1 })
    limiter.enter()
    const admitted: string[] = []
    const wait = (owner: string, priority: Priority, count: number) => {
      for (let i = 0; i < count; i++)
        void limiter.enter(undefined, { owner, priority })?.then(() => admitted.push(`${owner} ${priority}`))
    }
    wait('large', 'normal', 20)
    wait('large', 'user', 200)
    wait('small', 'background', 2)
    for (let i = 0; i < 2 + 2 * 33; i++) {
      limiter.leave()
      await Promise.resolve()
    }
    const countOf = (name: string) => admitted.filter(one => one === name).length
    const turns = ['large user', 'small background', 'large user', 'small background']
    assert.deepEqual(admitted.slice(0, 4), turns)
    assert.equal(countOf('large normal'), 2)
    assert.equal(countOf('large user'), 64)
  })
})
