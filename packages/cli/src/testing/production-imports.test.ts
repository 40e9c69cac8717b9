// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'

const source = resolve(import.meta.dirname, '..')

test('production code imports no test support', () => {
  const production = globSync('**/*.ts', { cwd: source }).filter(
    file => !file.endsWith('.test.ts') && !/(^|[/\\])testing[/\\]/.test(file),
  )
  assert.ok(production.includes('main.ts'))
  assert.deepEqual(
    production.filter(file =>
      /(?:from|import\()\s*'[^']*(?:\/testing\/|\.test\.ts|\.fixture\.ts)/.test(
        readFileSync(join(source, file), 'utf8'),
      ),
    ),
    [],
  )
})
