// SPDX-License-Identifier: Apache-2.0

// Among the tests on a real control plane, because those have Go.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { typeTableFiles } from './main.ts'

test('the committed tables are what the Go sources of the pinned Kubernetes version say', () => {
  const root = join(import.meta.dirname, '../../..')
  for (const [path, wanted] of Object.entries(typeTableFiles()))
    assert.ok(
      readFileSync(join(root, path), 'utf8') === wanted,
      `${path}: run packages/cluster/generate/main.ts again`,
    )
})
