// SPDX-License-Identifier: Apache-2.0

// A short fuzz run with a fixed seed. Only the long run of `npm run fuzz` measures stalls and memory, because other
// tests share the machine here.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzz } from './fuzz.ts'
import { reportLines } from './report.ts'

test('the operator survives generated requests and sets, and serves other sets meanwhile', async () => {
  const report = await fuzz({ seed: 11, reviews: 1_500, sets: 40, seconds: 200 }, () => undefined)
  const lines = reportLines(report).join('\n')
  assert.equal(report.ended, undefined, lines)
  assert.deepEqual(report.admission.failures, [], lines)
  assert.deepEqual(report.sets.failures, [], lines)
  assert.ok(report.admission.tried > 0 && report.sets.lived > 0 && report.sets.ordinary > 0, lines)
})
