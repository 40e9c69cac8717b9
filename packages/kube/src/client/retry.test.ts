// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { KubeError, type KubeErrorFields } from './error.ts'
import { defaultRetryPolicy, mayBeCarriedOut, retryDelayMs, wasNotProcessed } from './retry.ts'

const rows: [what: string, error: Partial<KubeErrorFields>, idempotent: boolean, tryAgain: boolean][] = [
  ['a create that the server throttled', { code: 'TooManyRequests' }, false, true],
  ['a create that was not sent', { code: 'Network', sent: false }, false, true],
  ['a create whose response was lost', { code: 'Network', sent: true }, false, false],
  ['a get whose response was lost', { code: 'Network', sent: true }, true, true],
  ['a create that timed out', { code: 'Timeout' }, false, false],
  ['a get that timed out', { code: 'Timeout' }, true, true],
  ['a get that the server could not finish', { code: 'ServerTimeout' }, true, true],
  [
    'a create at a server that is starting',
    { code: 'ServiceUnavailable', retryAfterSeconds: 1 },
    false,
    true,
  ],
  ['a create when the server is unreachable', { code: 'ServiceUnavailable' }, false, false],
  ['a get when the server is unreachable', { code: 'ServiceUnavailable' }, true, true],
  ['a get with an internal error', { code: 'Internal' }, true, false],
  ['a get with an internal error and Retry-After', { code: 'Internal', retryAfterSeconds: 2 }, true, true],
  [
    'a create with an internal error and Retry-After',
    { code: 'Internal', retryAfterSeconds: 2 },
    false,
    false,
  ],
  ['a conflict', { code: 'Conflict' }, true, false],
  ['a missing object', { code: 'NotFound' }, true, false],
  ['an invalid request', { code: 'Invalid' }, true, false],
  ['an aborted request', { code: 'Aborted' }, true, false],
  ['Retry-After of an hour', { code: 'TooManyRequests', retryAfterSeconds: 3600 }, true, false],
]

const delay = (error: Partial<KubeErrorFields>, attempt: number, idempotent: boolean, random = 0.5) =>
  retryDelayMs(
    new KubeError({ code: 'Internal', message: '', ...error }),
    attempt,
    idempotent,
    defaultRetryPolicy,
    () => random,
  )

describe('retryDelayMs', () => {
  for (const [what, error, idempotent, tryAgain] of rows)
    it(`${what}: ${tryAgain ? 'is repeated' : 'is not repeated'}`, () => {
      assert.equal(delay(error, 1, idempotent) !== undefined, tryAgain)
    })

  it('waits at least as long as Retry-After', () => {
    const wait = delay({ code: 'TooManyRequests', retryAfterSeconds: 3 }, 1, false, 0)!
    assert.ok(wait >= 3_000)
  })

  it('waits longer each time up to a limit', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(
      attempt => delay({ code: 'TooManyRequests' }, attempt, false)!,
    )
    for (const [index, wait] of waits.slice(1).entries()) assert.ok(wait >= waits[index]!)
    assert.ok(waits.at(-1)! <= defaultRetryPolicy.maxDelayMs)
  })

  it('gives up after the attempts of the policy', () => {
    assert.equal(delay({ code: 'Network' }, defaultRetryPolicy.failedAttempts, true), undefined)
    assert.equal(delay({ code: 'TooManyRequests' }, defaultRetryPolicy.throttledAttempts, true), undefined)
  })
})

describe('a failed write', () => {
  const outcomes: [
    what: string,
    error: Partial<KubeErrorFields>,
    effect: 'none' | 'possible' | 'rejected',
  ][] = [
    ['that was not sent', { code: 'Network', sent: false }, 'none'],
    ['whose response was lost', { code: 'Network', sent: true }, 'possible'],
    ['that timed out', { code: 'Timeout' }, 'possible'],
    ['that the server could not finish', { code: 'ServerTimeout' }, 'possible'],
    ['with an internal error', { code: 'Internal' }, 'possible'],
    ['with a malformed response', { code: 'Malformed' }, 'possible'],
    ['that the server throttled', { code: 'TooManyRequests' }, 'none'],
    ['at a server that is starting', { code: 'ServiceUnavailable', retryAfterSeconds: 1 }, 'none'],
    ['behind a proxy without a server', { code: 'ServiceUnavailable' }, 'possible'],
    ['with a conflict', { code: 'Conflict' }, 'rejected'],
    ['that is forbidden', { code: 'Forbidden' }, 'rejected'],
  ]
  for (const [what, fields, effect] of outcomes)
    it(`${what}: ${effect === 'possible' ? 'may have been carried out' : 'was not carried out'}`, () => {
      const error = new KubeError({ code: 'Internal', message: '', ...fields })
      assert.equal(mayBeCarriedOut(error), effect === 'possible')
      // A rejected write was processed: the same write is rejected again.
      assert.equal(wasNotProcessed(error), effect === 'none')
    })
})
