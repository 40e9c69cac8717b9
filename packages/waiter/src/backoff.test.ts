// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Backoff } from './backoff.ts'
import { timing } from './timing.ts'

describe('Backoff', () => {
  it('is never zero, never above the cap, and never shorter than Retry-After up to a limit', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(fc.array(fc.tuple(random, fc.nat(100_000)), { maxLength: 50 }), failures => {
        let next = 0
        const backoff = new Backoff(timing, () => next)
        for (const [random, retryAfterMs] of failures) {
          next = random
          const requests = Math.min(retryAfterMs, timing.maxRetryAfterMs)
          const own = backoff.next(retryAfterMs) - requests
          assert.ok(own >= timing.firstRetryMs / 2 - 1e-6 && own <= timing.maxRetryMs)
        }
      }),
    )
  })

  it('doubles, and starts over after a success', () => {
    const backoff = new Backoff(timing, () => 1)
    assert.deepEqual(
      Array.from({ length: 7 }, () => backoff.next()),
      [200, 400, 800, 1_600, 3_200, 5_000, 5_000],
    )
    backoff.reset()
    assert.equal(backoff.next(), 200)
  })
})
