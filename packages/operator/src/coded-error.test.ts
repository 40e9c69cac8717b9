// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setErrorCode } from '@grove/api'
import { CodedError, lastErrorsOf, PassFailed, together } from './coded-error.ts'

test('failures of several parts are told together, each under its own code', () => {
  const role = new CodedError('Sync', setErrorCode.syncRole, 'Role')
  const gang = new CodedError('Sync', setErrorCode.applyPodGang, 'PodGang')
  const codes = (...failures: unknown[]) =>
    lastErrorsOf(together(...failures), setErrorCode.updateStatus, 'now').map(({ code }) => code)
  assert.equal(together(undefined), undefined)
  assert.deepEqual(codes(undefined, gang), ['ERR_CREATE_OR_PATCH_PODGANG'])
  assert.deepEqual(codes(new PassFailed([role, new Error('?')]), gang), [
    'ERR_SYNC_ROLE',
    setErrorCode.updateStatus,
    'ERR_CREATE_OR_PATCH_PODGANG',
  ])
})
