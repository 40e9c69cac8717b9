// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { annotation } from '@grove/api'
import { parseCounts } from './remembered-counts.ts'

const parsed = (text: string | undefined) =>
  parseCounts({
    metadata: {
      name: 'w',
      ...(text !== undefined && { annotations: { [annotation.countsBeforeTermination]: text } }),
    },
  })

test('reads replica counts by the name of the clique', () => {
  assert.deepEqual(parsed('{"w-0-a":3,"w-0-b":0}'), { 'w-0-a': 3, 'w-0-b': 0 })
})

for (const text of [
  undefined,
  '',
  'null',
  '[3]',
  '"3"',
  '7',
  '{',
  '{"a":"3"}',
  '{"a":-1}',
  '{"a":1.5}',
  '{"a":null}',
])
  test(`ignores an annotation that holds no counts: ${text}`, () => assert.deepEqual(parsed(text), {}))
