// SPDX-License-Identifier: Apache-2.0

// `npm run test:kubernetes`: builds the real control plane if it is not in the cache, then runs every
// `*.kubernetes.test.ts` on it, one file after the other because the machine may be small. Words are paths of
// test files.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const files = process.argv.slice(2)
const found = files.length
  ? files
  : globSync('{packages,test,tools}/**/*.kubernetes.test.ts', {
      cwd: root,
      exclude: ['**/node_modules/**'],
    }).sort()

const build = spawnSync(process.execPath, ['test/kubernetes/src/main.ts', 'build'], {
  cwd: root,
  stdio: 'inherit',
})
if (build.status !== 0) process.exit(build.status ?? 1)
const tests = spawnSync(
  process.execPath,
  ['--test', '--test-concurrency=1', '--test-timeout=900000', ...found],
  {
    cwd: root,
    stdio: 'inherit',
  },
)
process.exit(tests.status ?? 1)
