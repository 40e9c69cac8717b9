// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitFor } from './wait.ts'

test('waitFor returns the first truthy value', async () => {
  const values = [undefined, null, false, 0, 1]
  assert.equal(await waitFor('a value', () => values.shift(), { intervalMs: 0 }), 0)
})

test('waitFor calls a check that throws again, and reports its last error after the time-out', async () => {
  let calls = 0
  const check = () => {
    if (++calls < 3) throw new Error('not yet')
    return calls
  }
  assert.equal(await waitFor('the third call', check, { intervalMs: 0 }), 3)
  const never = () => {
    throw new Error('no such pod')
  }
  await assert.rejects(
    waitFor('a pod', never, { timeoutMs: 1, intervalMs: 0 }),
    /in vain for a pod: no such pod/,
  )
})

test('an aborted wait rejects with the reason of the abort', async () => {
  const controller = new AbortController()
  const wait = waitFor('nothing', () => controller.abort(new Error('stopped')), {
    intervalMs: 0,
    signal: controller.signal,
  })
  await assert.rejects(wait, /^Error: stopped$/)
})
