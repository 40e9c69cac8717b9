// SPDX-License-Identifier: Apache-2.0

// RUNS for more, SEED to repeat a failure; thousands go faster with `npm run simulate`.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { terminationRun } from '../testing/simulation/termination-run.ts'

const runs = Number(process.env.RUNS ?? 12)
const seed = Number(process.env.SEED ?? 1)

test(`${runs} simulation runs of sets with failures (SEED=${seed})`, async () => {
  let terminated = 0
  for (let run = 0; run < runs; run++) terminated += await terminationRun(seed + run)
  if (runs > 10) assert.ok(terminated > 0, 'nothing was ever terminated')
})
