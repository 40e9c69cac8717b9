// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatAge, formatElapsed } from './age.ts'

test('long ages have a coarser format than short ones', () => {
  const minute = 60
  const hour = 60 * minute
  const day = 24 * hour
  const table: [seconds: number, text: string][] = [
    [-5, '<invalid>'],
    [-1, '0s'],
    [0, '0s'],
    [119, '119s'],
    [120, '2m'],
    [3 * minute + 10, '3m10s'],
    [10 * minute + 59, '10m'],
    [179 * minute, '179m'],
    [3 * hour, '3h'],
    [7 * hour + 21 * minute, '7h21m'],
    [47 * hour, '47h'],
    [2 * day + 4 * hour, '2d4h'],
    [8 * day + 5 * hour, '8d'],
    [400 * day, '400d'],
    [830 * day, '2y100d'],
    [3_000 * day, '8y'],
  ]
  for (const [seconds, text] of table) assert.equal(formatElapsed(seconds * 1_000), text)
  assert.equal(formatAge('2030-01-01T00:00:00Z', Date.parse('2030-01-01T00:00:45Z')), '45s')
  assert.equal(formatAge(undefined, 0), '<unknown>')
})
