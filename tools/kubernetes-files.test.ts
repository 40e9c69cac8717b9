// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { allFiles, alone, howManyAtATime, longest, ordered } from './kubernetes-files.ts'

const found = allFiles(resolve(import.meta.dirname, '..'))

test('every file runs once: the longest ones first, and files that need the whole machine separately', () => {
  const order = ordered(found)
  assert.deepEqual([...order.together, ...order.alone].sort(), found.toSorted())
  assert.deepEqual(order.together.slice(0, longest.length), longest)
  assert.deepEqual(order.alone, alone)
})

test('a named file runs, also if it is not in the lists', () => {
  assert.deepEqual(ordered(['b.kubernetes.test.ts', longest[0]!, 'a.kubernetes.test.ts']), {
    together: [longest[0], 'a.kubernetes.test.ts', 'b.kubernetes.test.ts'],
    alone: [],
  })
})

const GiB = 1024 ** 3
for (const [processors, gibibytes, files] of [
  [1, 32, 1],
  [2, 24, 2],
  [2, 4, 1],
  [4, 8, 2],
  [16, 24, 4],
  [4, 1, 1],
] as const)
  test(`${processors} processors and ${gibibytes} GiB run ${files} at a time`, () =>
    assert.equal(howManyAtATime(processors, gibibytes * GiB), files))
