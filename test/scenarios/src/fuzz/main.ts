// SPDX-License-Identifier: Apache-2.0

// `npm run fuzz`: sends generated requests and sets to a running operator process. Prints a report, and exits with 1 if
// a limit is exceeded.
import { randomInt } from 'node:crypto'
import { readArguments, rejectArguments } from '../../../../tools/arguments.ts'
import { fuzz } from './fuzz.ts'
import { reportLines, verdicts } from './report.ts'

const usage = `Usage: npm run fuzz -- [--reviews=100000] [--sets=2000] [--seconds=1800] [--seed=N]

Sends generated AdmissionReviews to a running operator process and creates, disturbs and deletes generated sets
on an embedded cluster. Fails if the operator ends, responds too late, stalls or keeps memory.`

const { values } = readArguments(usage, {
  options: {
    reviews: { type: 'string', default: '100000' },
    sets: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '1800' },
    seed: { type: 'string' },
  },
})
for (const [option, value] of Object.entries(values))
  if (!/^\d{1,9}$/.test(value))
    rejectArguments(`--${option} must be a whole number, not ${JSON.stringify(value)}`, usage)
const seed = Number(values.seed ?? randomInt(1, 1_000_000))
console.log(`seed ${seed} (repeat with --seed=${seed})`)
const report = await fuzz(
  { seed, reviews: Number(values.reviews), sets: Number(values.sets), seconds: Number(values.seconds) },
  console.log,
)
for (const line of reportLines(report)) console.log(line)
const failed = verdicts(report).filter(({ holds }) => !holds)
for (const { what } of failed) console.log(`FAILED: ${what}`)
process.exit(failed.length > 0 ? 1 : 0)
