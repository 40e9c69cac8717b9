// SPDX-License-Identifier: Apache-2.0

// RUNS for more, SEED to repeat a failure; thousands go faster with `npm run simulate`.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { terminationLife } from '../testing/simulation/termination-life.ts'

const runs = Number(process.env.RUNS ?? 12)
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)

test(`${runs} lives of sets with failures (SEED=${seed})`, async () => {
  let terminated = 0
  for (let run = 0; run < runs; run++) terminated += await terminationLife(seed + run)
  if (runs > 10) assert.ok(terminated > 0, 'nothing was ever terminated')
})
