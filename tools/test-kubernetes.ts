// SPDX-License-Identifier: Apache-2.0

// `npm run test:kubernetes`: builds the real control plane if it is not in the cache, then runs every
// `*.kubernetes.test.ts` on it. Several files run at the same time, each with its own control plane. Arguments are
// paths of test files; `--test-name-pattern` selects tests by their names.
import { spawnSync } from 'node:child_process'
import { availableParallelism, totalmem } from 'node:os'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { filesOf, readArguments } from './arguments.ts'
import { eventsOf, type TestEvent } from './joined-report.ts'
import { allFiles, howManyAtATime, ordered } from './kubernetes-files.ts'
import { fixedSeed, seedArguments } from './seed.ts'

const usage = `Usage: npm run test:kubernetes [-- [--test-name-pattern=PATTERN] FILE…]

Every *.kubernetes.test.ts, or the files given, on real control planes, which Go builds the first time.`

/** The time limit of a whole file. It only ends files that hang. */
const timeoutMs = 30 * 60_000

// A signal to this process ends the test processes and their control planes.
const ended = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    process.exitCode = 1
    ended.abort()
  })

process.chdir(resolve(import.meta.dirname, '..'))
const { positionals, values } = readArguments(usage, {
  allowPositionals: true,
  options: { 'test-name-pattern': { type: 'string', multiple: true } },
})
const testNamePatterns = values['test-name-pattern']?.map(pattern => new RegExp(pattern)) ?? []
const { together, alone } = ordered(positionals.length ? filesOf(positionals, usage) : allFiles('.'))

process.env.SEED ??= String(fixedSeed)
const build = spawnSync(process.execPath, ['test/kubernetes/src/main.ts', 'build'], { stdio: 'inherit' })
if (build.status !== 0) process.exit(build.status ?? 1)
const atATime = howManyAtATime(availableParallelism(), totalmem())
const report = Readable.from(eventsOf([runOf(together, atATime), runOf(alone, 1)])).compose(new spec())
for await (const text of report) process.stdout.write(text)

async function* runOf(files: readonly string[], concurrency: number): AsyncGenerator<TestEvent> {
  if (files.length === 0 || ended.signal.aborted) return
  const events = run({
    files: [...files],
    concurrency,
    timeout: timeoutMs,
    signal: ended.signal,
    execArgv: [...seedArguments],
    ...(testNamePatterns.length > 0 && { testNamePatterns }),
  })
  // The report of a file waits for those before it, so the end of each file is printed at once.
  events.on('test:complete', ({ name, nesting, details }) => {
    if (nesting === 0 && files.includes(name)) console.log(`${name} took ${inSeconds(details.duration_ms)}`)
  })
  events.on('test:fail', ({ todo }) => {
    if (todo === undefined || todo === false) process.exitCode = 1
  })
  yield* events as AsyncIterable<TestEvent>
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(0)} s`
}
