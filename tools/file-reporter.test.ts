// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

test('a whole run prints one line for each file, and the tests that fail with their suites', t => {
  const folder = mkdtempSync(join(tmpdir(), 'file-reporter-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = (name: string, text: string) =>
    writeFileSync(join(folder, name), `import { describe, test } from 'node:test'\n${text}\n`)
  file('good.test.mjs', `test('adds', () => {}); describe('all', () => { test('divides', () => {}) })`)
  file(
    'bad.test.mjs',
    `describe('outer', () => { test('holds', () => {}); describe('inner', () => { test('breaks', () => { throw new Error('broken') }) }) })
    test('later', () => {})`,
  )
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      '--test',
      `--test-reporter=${join(import.meta.dirname, 'file-reporter.ts')}`,
      'bad.test.mjs',
      'good.test.mjs',
    ],
    {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, FORCE_COLOR: '0' },
    },
  )
  assert.equal(status, 1)
  assert.match(stdout, /^good\.test\.mjs: 2 tests, \d+\.\d s$/m)
  assert.match(stdout, /^bad\.test\.mjs: 3 tests, \d+\.\d s$/m)
  for (const shown of ['outer', 'inner', 'breaks', 'Error: broken', 'pass 4', 'fail 1'])
    assert.ok(stdout.includes(shown), `${shown} in ${stdout}`)
  for (const hidden of ['adds', 'divides', 'holds', 'later'])
    assert.ok(!stdout.includes(hidden), `${hidden} in ${stdout}`)
})
