// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wrapped } from './wrap.ts'

test('a line is wrapped between words and indented', () => {
  const table: [line: string, lines: string[]][] = [
    ['  short  (line 1)', ['  short  (line 1)']],
    ['  a line with several args  (line 12)', ['  a line with several', '    args  (line 12)']],
    ['  a line with some args (line 12)', ['  a line with some', '    args (line 12)']],
    ['    averyveryverylongpath: is not right', ['    averyveryverylongpath:', '      is not right']],
  ]
  for (const [line, lines] of table) assert.deepEqual(wrapped(line, 22), lines)
})
