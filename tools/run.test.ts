// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { test } from 'node:test'

test('paths are meant from where npm was called, not from the root where it starts commands', () => {
  const root = resolve(import.meta.dirname, '..')
  const words = ['tools/run.mjs', 'packages/cli/src/main.ts', 'validate', '-f', 'podcliqueset.yaml']
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    cwd: root,
    env: { ...process.env, INIT_CWD: resolve(root, 'playground/disaggregated') },
    encoding: 'utf8',
    timeout: 60_000,
  })
  assert.deepEqual([status, stderr], [0, ''])
  assert.match(stdout, /^✓ PodCliqueSet llm\n/)
})
