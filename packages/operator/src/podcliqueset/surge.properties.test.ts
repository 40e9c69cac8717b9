// SPDX-License-Identifier: Apache-2.0

// RUNS runs more, SEED repeats a failure. `npm run simulate` is faster for thousands of runs.
import { test } from 'node:test'
import { surgeRun } from '../testing/simulation/surge-run.ts'

const runs = Number(process.env.RUNS ?? 20)
const seed = Number(process.env.SEED ?? 1)

test(`${runs} simulation runs of sets that are updated with surge replicas (SEED=${seed})`, async () => {
  for (let run = 0; run < runs; run++) await surgeRun(seed + run)
})
