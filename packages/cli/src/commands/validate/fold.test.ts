// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { folded } from './fold.ts'

test('a line is broken between words, below its beginning', () => {
  const table: [line: string, lines: string[]][] = [
    ['  short  (line 1)', ['  short  (line 1)']],
    ['  a line with several words  (line 12)', ['  a line with several', '    words  (line 12)']],
    ['  a line with some words (line 12)', ['  a line with some', '    words (line 12)']],
    ['    averyveryverylongpath: is not right', ['    averyveryverylongpath:', '      is not right']],
  ]
  for (const [line, lines] of table) assert.deepEqual(folded(line, 22), lines)
})
