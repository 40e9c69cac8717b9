// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quote } from './quote.ts'

// The results of strconv.Quote in Go 1.26.
const table: [text: string, quoted: string][] = [
  ['', '""'],
  ['plain text', '"plain text"'],
  ['"\\', '"\\"\\\\"'],
  ['\x07\b\f\n\r\t\v', '"\\a\\b\\f\\n\\r\\t\\v"'],
  ['\0\x1f\x7f', '"\\x00\\x1f\\x7f"'],
  ['\u0080\u00a0\u00ad\u2028', '"\\u0080\\u00a0\\u00ad\\u2028"'],
  ['äß→😀', '"äß→😀"'],
  ['\u{e0001}', '"\\U000e0001"'],
  ['\ufffd', '"\ufffd"'],
]

for (const [text, quoted] of table)
  test(`${quoted} is quoted like in Go`, () => {
    assert.equal(quote(text), quoted)
  })

test('a lone surrogate is quoted as the replacement character', () => {
  assert.equal(quote('\ud800a'), '"\ufffda"')
})
