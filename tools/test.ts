// SPDX-License-Identifier: Apache-2.0

// `npm test`: types, format and lint, the repository's own checks, then every test that needs no cluster.
// `--only=checks` and `--only=tests` run one half; further words are paths of test files.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { readWords, refuseWords } from './words.ts'

const usage = `Usage: npm test [-- [--only=checks|tests] FILE…]

Types, format and lint, the repository's own checks, then every test that needs no cluster, or those of the files.`

const root = resolve(import.meta.dirname, '..')
/** Also the limit of a whole file: the scenarios take five minutes on two busy processors. */
const testTimeout = '--test-timeout=900000'
const { values, positionals: files } = readWords(usage, {
  allowPositionals: true,
  options: { only: { type: 'string' } },
})
const { only } = values
if (only !== undefined && only !== 'checks' && only !== 'tests')
  refuseWords(`--only is checks or tests, not ${only}`, usage)

if (only !== 'tests') {
  step('types', ['node_modules/typescript/bin/tsc', '--noEmit'])
  step('format and lint', ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'])
  step('repository', ['tools/checks/repository.ts'])
}
if (only !== 'checks') {
  const found = files.length
    ? files
    : globSync('{packages,test,tools}/**/*.test.ts', { cwd: root, exclude: ['**/node_modules/**'] })
        .filter(file => !file.endsWith('.kubernetes.test.ts'))
        .sort()
  // As many files at a time as there are processors: Node leaves one of them idle.
  const atATime = `--test-concurrency=${availableParallelism()}`
  step('tests', ['--test', testTimeout, atATime, ...found])
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
