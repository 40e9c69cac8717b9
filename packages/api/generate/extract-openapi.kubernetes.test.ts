// SPDX-License-Identifier: Apache-2.0

// One of the tests on a real control plane, because only those have Go.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkOpenApi } from './extract-openapi.ts'

test('the committed definitions match the OpenAPI of the pinned Kubernetes versions', () => {
  assert.deepEqual(checkOpenApi(join(import.meta.dirname, '../../..')), [])
})
