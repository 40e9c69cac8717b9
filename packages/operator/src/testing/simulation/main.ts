// SPDX-License-Identifier: Apache-2.0

// `npm run simulate -- --updates=3000 --surges=1000 --terminations=1000 --seed=1`: runs this number
// of simulations, starting with the seed, on all cores. With `--stale` the operator reads caches that are behind the
// API. Ends at the first failure and prints the command that repeats it.
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import type { RunOptions } from './repeatable.ts'
import { surgeRun } from './surge-run.ts'
import { terminationRun } from './termination-run.ts'
import { updateRun } from './update-run.ts'

interface Share {
  readonly updates: readonly number[]
  readonly surges: readonly number[]
  readonly terminations: readonly number[]
  readonly options: RunOptions
}

interface Tally {
  runs: number
  terminated: number
}

const reportEvery = 50

const usage =
  'Usage: npm run simulate -- [--updates=3000] [--surges=1000] [--terminations=1000] [--seed=N] [--workers=N] [--stale]'

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        updates: { type: 'string', default: '3000' },
        surges: { type: 'string', default: '1000' },
        terminations: { type: 'string', default: '1000' },
        seed: { type: 'string', default: String(Date.now() % 1_000_000) },
        workers: { type: 'string', default: String(availableParallelism()) },
        stale: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h' },
      },
    })
    for (const [option, value] of Object.entries(values))
      if (typeof value === 'string' && !/^\d{1,9}$/.test(value))
        throw new Error(`--${option} must be a whole number, not ${JSON.stringify(value)}`)
    if (values.workers === '0') throw new Error('--workers must be at least 1')
    return values
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    process.exit(2)
  }
}

async function main(): Promise<void> {
  const values = readArguments()
  if (values.help) {
    console.log(usage)
    return
  }
  const workers = Number(values.workers)
  const seeds = (count: string, worker: number) =>
    Array.from({ length: Number(count) }, (_, at) => Number(values.seed) + at).filter(
      (_, at) => at % workers === worker,
    )
  console.log(
    `${values.updates} updates, ${values.surges} with surge replicas and ${values.terminations} terminations, seed ${values.seed}${values.stale ? ', with stale caches' : ''}`,
  )
  const started = performance.now()
  const tallies = await Promise.all(
    Array.from({ length: workers }, (_, worker) =>
      work({
        updates: seeds(values.updates, worker),
        surges: seeds(values.surges, worker),
        terminations: seeds(values.terminations, worker),
        options: { isLate: values.stale },
      }),
    ),
  )
  const sum = (of: keyof Tally) => tallies.reduce((total, tally) => total + tally[of], 0)
  const seconds = ((performance.now() - started) / 1000).toFixed(0)
  console.log(`${sum('runs')} runs, ${sum('terminated')} terminations, nothing wrong, ${seconds} s`)
}

function work(share: Share): Promise<Tally> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: share })
    worker.on('message', (tally: Tally | number) => {
      if (typeof tally === 'number') console.log(`${tally} runs`)
      else resolve(tally)
    })
    worker.on('error', reject)
  })
}

async function liveThrough({ updates, surges, terminations, options }: Share): Promise<Tally> {
  const tally = { runs: 0, terminated: 0 }
  const count = () => {
    if (++tally.runs % reportEvery === 0) parentPort!.postMessage(tally.runs)
  }
  for (const seed of updates) {
    await updateRun(seed, options)
    count()
  }
  for (const seed of surges) {
    await surgeRun(seed, options)
    count()
  }
  for (const seed of terminations) {
    tally.terminated += await terminationRun(seed, options)
    count()
  }
  return tally
}

if (isMainThread)
  try {
    await main()
  } catch (error) {
    console.error(error)
    process.exit(1)
  }
else parentPort!.postMessage(await liveThrough(workerData as Share))
