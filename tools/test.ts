// SPDX-License-Identifier: Apache-2.0

// `npm test`: types, format and lint, the repository's own checks, then every test that needs no cluster.
// `--only=checks` and `--only=tests` run one half; `--only=random` runs the tests that depend on SEED, with a random
// one. Further arguments are paths of test files; `--test-name-pattern` selects tests by their names.
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { filesOf, readArguments, rejectArguments } from './arguments.ts'
import { dependsOnSeed, fixedSeed, seedArguments } from './seed.ts'

const usage = `Usage: npm test [-- [--only=checks|tests|random] [--test-name-pattern=PATTERN] FILE…]

Types, format and lint, the repository's own checks, then every test that needs no cluster, or those of the files.
The environment variable SEED (default: ${fixedSeed}) determines the random choices of tests.`

const root = resolve(import.meta.dirname, '..')
/** Also the limit of a whole file: the scenarios take five minutes on two busy processors. */
const testTimeout = '--test-timeout=900000'
const { values, positionals } = readArguments(usage, {
  allowPositionals: true,
  options: { only: { type: 'string' }, 'test-name-pattern': { type: 'string', multiple: true } },
})
const { only } = values
if (only !== undefined && only !== 'checks' && only !== 'tests' && only !== 'random')
  rejectArguments(`--only is checks, tests or random, not ${only}`, usage)
process.chdir(root)
const files = filesOf(positionals, usage)

if (only === undefined || only === 'checks') {
  step('types', ['node_modules/typescript/bin/tsc', '--noEmit'])
  // The script of the dashboard runs in a browser, whose types the other code must not see.
  step('types of the dashboard page', [
    'node_modules/typescript/bin/tsc',
    '--project',
    'packages/dashboard/page',
  ])
  step('format and lint', ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'])
  step('repository', ['tools/checks/repository.ts'])
}
if (only !== 'checks') {
  const found = files.length
    ? files
    : globSync('{packages,test,tools}/**/*.test.ts', { cwd: root, exclude: ['**/node_modules/**'] })
        .filter(file => !file.endsWith('.kubernetes.test.ts'))
        .filter(file => only !== 'random' || dependsOnSeed(resolve(root, file)))
        .sort()
  process.env.SEED ??= String(only === 'random' ? randomInt(1, 1_000_000) : fixedSeed)
  if (only === 'random')
    console.log(
      `SEED=${process.env.SEED}; to repeat a failure: SEED=${process.env.SEED} npm run test:unit -- FILE`,
    )
  // One file per processor: the default of Node leaves one processor idle.
  const atATime = `--test-concurrency=${availableParallelism()}`
  const patterns = values['test-name-pattern']?.map(pattern => `--test-name-pattern=${pattern}`) ?? []
  const reporter = files.length
    ? []
    : [
        `--test-reporter=${new URL('./file-reporter.ts', import.meta.url).href}`,
        '--test-reporter-destination=stdout',
      ]
  step('tests', [...seedArguments, '--test', testTimeout, atATime, ...reporter, ...patterns, ...found])
}

function step(name: string, command: string[]): void {
  const started = performance.now()
  const { status } = spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' })
  if (status !== 0) {
    console.error(`✗ ${name} failed`)
    process.exit(status ?? 1)
  }
  if (name !== 'tests') console.log(`✓ ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`)
}
