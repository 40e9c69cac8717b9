// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { dependsOnSeed, seedArguments } from './seed.ts'

const folder = mkdtempSync(join(tmpdir(), 'grove-seed-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function valuesWith(seed: string | undefined): string {
  const file = join(import.meta.dirname, 'seed.fixture.ts')
  const { NODE_TEST_CONTEXT: _, SEED: __, ...env } = process.env
  const { stdout } = spawnSync(process.execPath, [...seedArguments, '--test', file], {
    encoding: 'utf8',
    env: { ...env, ...(seed !== undefined && { SEED: seed }) },
    timeout: 60_000,
  })
  return /values: (\S+)/.exec(stdout)?.[1] ?? assert.fail(stdout)
}

test('fast-check generates the same values for the same SEED, and for no SEED those of the fixed seed', () => {
  const first = valuesWith('7')
  assert.equal(valuesWith('7'), first)
  assert.notEqual(valuesWith('8'), first)
  assert.equal(valuesWith(undefined), valuesWith('1'))
})

test('files with properties and files that read SEED depend on the seed', () => {
  const file = join(folder, 'a.test.ts')
  for (const [source, expected] of [
    ["import fc from 'fast-check'", true],
    ['const seed = Number(process.env.SEED ?? 1)', true],
    ["import assert from 'node:assert/strict'", false],
  ] as const) {
    writeFileSync(file, source)
    assert.equal(dependsOnSeed(file), expected, source)
  }
})
