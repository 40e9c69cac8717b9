// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SkippingClock } from './skipping-clock.ts'

test('skip fires due timers in order, and moves both times forward', async () => {
  const clock = new SkippingClock()
  const fired: string[] = []
  const [wall, monotonic] = [clock.now(), clock.monotonic()]
  clock.setTimeout(() => fired.push('hour'), 3_600_000)
  clock.setTimeout(() => fired.push('two minutes'), 120_000)
  const cancelled = clock.setTimeout(() => fired.push('cancelled'), 60_000)
  clock.setTimeout(() => cancelled.cancel(), 59_000)
  await clock.skip(121_000)
  assert.deepEqual(fired, ['two minutes'])
  assert.ok(clock.now() - wall >= 121_000)
  assert.ok(clock.monotonic() - monotonic >= 121_000)
  await clock.skip(3_600_000)
  assert.deepEqual(fired, ['two minutes', 'hour'])
})

test('a timer that sets the next one fires once for each interval that is skipped', async () => {
  const clock = new SkippingClock()
  let ticks = 0
  const tick = () => {
    ticks++
    timer = clock.setTimeout(tick, 1_000)
  }
  let timer = clock.setTimeout(tick, 1_000)
  await clock.skip(10_500)
  timer.cancel()
  assert.equal(ticks, 10)
})

test('timers fire in real time without a skip, and sleep rejects when it is aborted', async () => {
  const clock = new SkippingClock()
  await clock.sleep(1)
  const abort = new AbortController()
  const sleeping = clock.sleep(3_600_000, abort.signal)
  abort.abort(new Error('stopped'))
  await assert.rejects(sleeping, /stopped/)
})
