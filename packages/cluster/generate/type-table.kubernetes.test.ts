// SPDX-License-Identifier: Apache-2.0

// A *.kubernetes.test.ts file, because only those tests have Go.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { typeTableFiles } from './main.ts'

test('the committed tables match the Go sources of the pinned Kubernetes version', () => {
  const root = join(import.meta.dirname, '../../..')
  for (const [path, wanted] of Object.entries(typeTableFiles()))
    assert.ok(
      readFileSync(join(root, path), 'utf8') === wanted,
      `${path}: run packages/cluster/generate/main.ts again`,
    )
})
