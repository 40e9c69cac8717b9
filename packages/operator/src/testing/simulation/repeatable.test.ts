// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { repeatable } from './repeatable.ts'

test('a successful run prints nothing', async () => {
  assert.equal(await repeatable('updates', 7, {}, async () => 3), 3)
})

test('a failed run names the command that repeats it, and its last steps', async () => {
  const cause = new Error('two pods')
  await assert.rejects(
    repeatable('surges', 7, { isLate: true }, async log => {
      for (let step = 1; step <= 30; step++) log.push(`step ${step}`)
      throw cause
    }),
    (error: Error) => {
      assert.equal(error.cause, cause)
      const [head, ...steps] = error.message.split('\n')
      const command = 'npm run simulate -- --updates=0 --surges=1 --terminations=0 --seed=7 --stale'
      assert.equal(head, `${command} repeats this: two pods`)
      assert.deepEqual([steps.length, steps[0], steps.at(-1)], [25, 'step 6', 'step 30'])
      return true
    },
  )
})
