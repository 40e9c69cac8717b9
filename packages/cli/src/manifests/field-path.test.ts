// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { valueAt } from './field-path.ts'

test('a path leads through objects, lists and keys with dots', () => {
  const object = {
    spec: { limits: { 'nvidia.com/gpu': 8, nvidia: { com: 1 } }, list: [{ name: 'a' }, { name: 'b' }] },
  }
  const table: [path: string, value: unknown][] = [
    ['', object],
    ['spec.list[1].name', 'b'],
    ['spec.limits.nvidia.com/gpu', 8],
    ['spec.limits[nvidia.com/gpu]', 8],
    ['spec.limits.nvidia.com', 1],
    ['spec.list[2].name', undefined],
    ['spec.list.name', undefined],
    ['spec.missing.deeper', undefined],
    ['spec.list[0].name.deeper', undefined],
    ['spe', undefined],
  ]
  for (const [path, value] of table) assert.deepEqual(valueAt(object, path), value, path)
})
