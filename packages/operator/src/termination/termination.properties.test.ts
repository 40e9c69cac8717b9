// SPDX-License-Identifier: Apache-2.0

// RUNS runs more, SEED repeats a failure. `npm run simulate` is faster for thousands of runs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { terminationRun } from '../testing/simulation/termination-run.ts'

const runs = Number(process.env.RUNS ?? 12)
const seed = Number(process.env.SEED ?? 1)

test(`${runs} simulation runs of sets with failures (SEED=${seed})`, async () => {
  let terminated = 0
  for (let run = 0; run < runs; run++) terminated += await terminationRun(seed + run)
  if (runs > 10) assert.ok(terminated > 0, 'no replica was ever terminated')
})
