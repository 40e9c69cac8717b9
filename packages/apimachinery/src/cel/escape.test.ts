// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { celName } from './escape.ts'

test('escapes property names that are not valid in CEL like Kubernetes', () => {
  const cases: Record<string, string | undefined> = {
    replicas: 'replicas',
    namespace: '__namespace__',
    in: '__in__',
    'a.b': 'a__dot__b',
    'x-y': 'x__dash__y',
    'a/b': 'a__slash__b',
    a__b: 'a__underscores__b',
    _a: '_a',
    '1a': undefined,
    '': undefined,
    'a b': undefined,
    é: undefined,
  }
  for (const [property, name] of Object.entries(cases)) assert.equal(celName(property), name, property)
})
