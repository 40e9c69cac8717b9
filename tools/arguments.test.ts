// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

function run(tool: string, ...args: string[]) {
  const file = join(import.meta.dirname, tool)
  return spawnSync(process.execPath, [file, ...args], { encoding: 'utf8', timeout: 60_000 })
}

for (const tool of ['test.ts', 'test-kubernetes.ts', 'generate.ts', '../test/scenarios/src/fuzz/main.ts'])
  test(`${tool} prints its usage and does nothing else, for --help and for unknown arguments`, () => {
    const help = run(tool, '--help')
    assert.deepEqual([help.status, help.stderr], [0, ''])
    assert.match(help.stdout, /^Usage: npm /)
    const unknown = run(tool, '--nothing-of-ours')
    assert.deepEqual([unknown.status, unknown.stdout], [2, ''])
    assert.match(unknown.stderr, /^Unknown option '--nothing-of-ours'.*\n\nUsage: npm /)
  })

for (const tool of ['test.ts', 'test-kubernetes.ts'])
  test(`${tool} rejects a path that is no test file before it runs anything`, () => {
    for (const path of ['nope.test.ts', 'tools', 'tools/test.ts']) {
      const { status, stdout, stderr } = run(tool, 'tools/seed.test.ts', path)
      assert.deepEqual([status, stdout], [2, ''])
      assert.ok(stderr.startsWith(`${path} is not a test file\n\nUsage: npm `), stderr)
    }
  })

test('fuzz rejects a number that it cannot read', () => {
  const { status, stderr } = run('../test/scenarios/src/fuzz/main.ts', '--sets=many')
  assert.equal(status, 2)
  assert.match(stderr, /^--sets must be a whole number, not "many"\n\nUsage: npm run fuzz /)
})

test('bench names a benchmark that does not exist', () => {
  const { status, stderr } = run('bench.ts', 'nope')
  assert.deepEqual([status, stderr], [2, 'there is no benchmark nope\n\n'])
})

test('rejects an unknown value of --only', () => {
  const { status, stderr } = run('test.ts', '--only=half')
  assert.equal(status, 2)
  assert.match(stderr, /^--only is checks, tests or random, not half\n/)
})
