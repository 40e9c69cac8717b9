// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DelayLine } from './delay-line.ts'

test('DelayLine keeps the order, also while the process is busy', async () => {
  const line = new DelayLine()
  const seen: number[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const waits = [10, 0, 3, 12, 1, 0, 7]
  for (const [number, ms] of waits.entries()) {
    line.push(ms, () => {
      seen.push(number)
      if (seen.length === waits.length) resolve()
    })
    const busyUntil = performance.now() + 2.5
    while (performance.now() < busyUntil);
  }
  await promise
  assert.deepEqual(
    seen,
    waits.map((_, number) => number),
  )
})

test('DelayLine runs an action without delay at once if no other waits', () => {
  let isDone = false
  new DelayLine().push(0, () => (isDone = true))
  assert.ok(isDone)
})
