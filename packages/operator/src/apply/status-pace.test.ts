// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '@grove/kube'
import {
  askAgainMs,
  fewStatuses,
  longestStatusWaitMs,
  manyStatusesApartMs,
  StatusPace,
  statusEveryMs,
  statusesApartMs,
} from './status-pace.ts'

describe('the pace of statuses', () => {
  test('a first status waits a moment, so that it says more', async () => {
    const clock = new FakeClock()
    const pace = new StatusPace(clock)
    assert.equal(pace.waitMs('a'), statusEveryMs)
    await clock.advance(statusEveryMs)
    assert.equal(pace.waitMs('a'), 0)
  })

  test('after a write the next one waits from then on', async () => {
    const clock = new FakeClock()
    const pace = new StatusPace(clock)
    pace.wrote('a')
    await clock.advance(statusEveryMs - 100)
    assert.equal(pace.waitMs('a'), 100)
    await clock.advance(100)
    assert.equal(pace.waitMs('a'), 0)
    await clock.advance(10 * statusEveryMs)
    pace.wrote('a')
    assert.equal(pace.waitMs('a'), statusEveryMs)
  })

  test('a few take turns, many wait longer, and none waits for ever', async () => {
    const clock = new FakeClock()
    const pace = new StatusPace(clock)
    const waits = Array.from({ length: 1000 }, (_, index) => pace.waitMs(`uid-${index}`))
    assert.deepEqual(
      waits.slice(0, 3),
      [0, 1, 2].map(turn => statusEveryMs + turn * statusesApartMs),
    )
    assert.equal(waits[fewStatuses + 2]! - waits[fewStatuses + 1]!, manyStatusesApartMs)
    assert.equal(Math.max(...waits), askAgainMs, 'by then the rush may be over')
    await clock.advance(longestStatusWaitMs)
    assert.ok(waits.every((_, index) => pace.waitMs(`uid-${index}`) === 0))
  })

  test('while much happens those that ask again wait on, up to the limit', async () => {
    const clock = new FakeClock()
    const pace = new StatusPace(clock)
    for (let index = 0; index < 2000; index++) pace.waitMs(`busy-${index}`)
    let waitMs = pace.waitMs('last')
    let waitedMs = 0
    while (waitMs > 0) {
      for (let index = 0; index < 2000; index++) pace.waitMs(`busy-${index}`)
      await clock.advance(Math.min(waitMs, 500))
      waitedMs += Math.min(waitMs, 500)
      waitMs = waitedMs % askAgainMs === 0 ? pace.waitMs('last') : waitMs
    }
    assert.equal(waitedMs, longestStatusWaitMs)
  })

  test('when little happens any more all are written as soon as they ask again', async () => {
    const clock = new FakeClock()
    const pace = new StatusPace(clock)
    const uids = Array.from({ length: 500 }, (_, index) => `uid-${index}`)
    for (const uid of uids) pace.waitMs(uid)
    await clock.advance(askAgainMs)
    const waits = uids.map(uid => {
      const waitMs = pace.waitMs(uid)
      if (waitMs === 0) pace.wrote(uid)
      return waitMs
    })
    assert.equal(Math.max(...waits), 0)
    assert.equal(pace.waitMs('next'), statusEveryMs, 'nobody is left to wait for')
  })

  test('on a slow cluster much happens as well: most of those who wait will have changed before their turn comes', async () => {
    const clock = new FakeClock()
    const pace = new StatusPace(clock)
    for (let index = 0; index < 200; index++) pace.waitMs(`uid-${index}`)
    for (let index = 0; index < 60; index++) {
      pace.wrote(`other-${index}`)
      await clock.advance(100)
    }
    assert.notEqual(pace.waitMs('uid-199'), 0, 'ten changes in a second')
    await clock.advance(askAgainMs)
    assert.equal(pace.waitMs('uid-199'), 0, 'none for some seconds')
  })

  test('a few that never rest do not hold up the others', async () => {
    const clock = new FakeClock()
    const pace = new StatusPace(clock)
    for (let index = 0; index < 500; index++) pace.waitMs(`uid-${index}`)
    for (let ms = 0; ms < askAgainMs; ms += 100) {
      pace.wrote('restless')
      await clock.advance(100)
    }
    assert.equal(pace.waitMs('uid-499'), 0)
  })

  test('what is again as it was waits for nothing, and nobody waits behind it', async () => {
    const clock = new FakeClock()
    const pace = new StatusPace(clock)
    for (let index = 0; index < 1000; index++) pace.waitMs(`uid-${index}`)
    for (let index = 0; index < 1000; index++) pace.drop(`uid-${index}`)
    await clock.advance(longestStatusWaitMs)
    assert.equal(pace.waitMs('next'), statusEveryMs)
  })

  test('what was calm waits only for those that still wait', async () => {
    const clock = new FakeClock()
    const pace = new StatusPace(clock)
    for (let index = 0; index < 1000; index++) pace.waitMs(`uid-${index}`)
    for (let index = 0; index < 1000; index++) pace.wrote(`uid-${index}`)
    pace.wrote('calm')
    await clock.advance(1_000)
    assert.equal(pace.waitMs('calm'), 0)
  })
})
