// SPDX-License-Identifier: Apache-2.0

// Among the tests on a real control plane, because those have Go.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkOpenApi } from './extract-openapi.ts'

test('the committed definitions are what the OpenAPI of the pinned Kubernetes versions says', () => {
  assert.deepEqual(checkOpenApi(join(import.meta.dirname, '../../..')), [])
})
