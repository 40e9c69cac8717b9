// SPDX-License-Identifier: Apache-2.0

// RUNS runs more, SEED repeats a failure. `npm run simulate` is faster for thousands of runs.
import { test } from 'node:test'
import { updateRun } from '../testing/simulation/update-run.ts'

const runs = Number(process.env.RUNS ?? 30)
const seed = Number(process.env.SEED ?? 1)

test(`${runs} simulation runs of sets that are updated (SEED=${seed})`, async () => {
  for (let run = 0; run < runs; run++) await updateRun(seed + run)
})
