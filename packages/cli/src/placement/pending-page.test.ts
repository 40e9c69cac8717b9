// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { catalogue } from '@grove/scheduler'

const page = readFileSync(resolve(import.meta.dirname, '../../../../docs/pending.md'), 'utf8')

test('the page lists every code with its tier and message, and an action', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\w+) \| (.+) \| (.+) \|$/gm)].filter(
    ([, code]) => code !== undefined && /^[A-Z]/.test(code),
  )
  assert.deepEqual(
    rows.map(([, code, tier, message]) => [code, { tier, message }]),
    Object.entries(catalogue).map(([code, { tier, message }]) => [code, { tier, message }]),
  )
  for (const [, code, , , action] of rows) assert.match(action ?? '', /^[A-Z].*\.$/, code)
})
