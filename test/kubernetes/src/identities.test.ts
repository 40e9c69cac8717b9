// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serviceAccount } from './identities.ts'

test('a ServiceAccount has a user name and groups', () => {
  assert.deepEqual(serviceAccount('grove-system', 'operator'), {
    user: 'system:serviceaccount:grove-system:operator',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:grove-system'],
  })
})
