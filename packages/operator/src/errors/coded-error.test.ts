// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setErrorCode } from '@grove/api'
import { aggregate, CodedError, lastErrorsOf, ReconcileFailed } from './coded-error.ts'

test('failures of several parts are reported together, each with its own code', () => {
  const role = new CodedError('Sync', setErrorCode.syncRole, 'Role')
  const gang = new CodedError('Sync', setErrorCode.applyPodGang, 'PodGang')
  const codes = (...failures: unknown[]) =>
    lastErrorsOf(aggregate(failures), setErrorCode.updateStatus, 'now').map(({ code }) => code)
  assert.equal(aggregate([]), undefined)
  assert.deepEqual(codes(gang), ['ERR_CREATE_OR_PATCH_PODGANG'])
  assert.deepEqual(codes(new ReconcileFailed([role, new Error('?')]), gang), [
    'ERR_SYNC_ROLE',
    setErrorCode.updateStatus,
    'ERR_CREATE_OR_PATCH_PODGANG',
  ])
})

test('several failures have the code of the first one, if all have a code', () => {
  const role = new CodedError('Sync', setErrorCode.syncRole, 'Role')
  const gang = new CodedError('Sync', setErrorCode.applyPodGang, 'PodGang')
  assert.equal(new ReconcileFailed([role, gang]).code, 'ERR_SYNC_ROLE')
  assert.equal(new ReconcileFailed([role, new TypeError('a bug')]).code, undefined)
})

test('the status holds a bounded number of errors of a bounded length', () => {
  const failed = new ReconcileFailed(
    Array.from({ length: 3_000 }, (_, at) => new Error(`${at} ${'x'.repeat(100_000)}`)),
  )
  const errors = lastErrorsOf(failed, setErrorCode.updateStatus, 'now')
  assert.equal(errors.length, 21)
  assert.equal(errors.at(-1)?.description, 'and 2980 more errors')
  assert.ok(JSON.stringify(errors).length < 50_000)
})

test('an error that the status already contains keeps its time, so that it is not written again', () => {
  const failed = new ReconcileFailed([new Error('old'), new Error('new')])
  const before = [{ code: setErrorCode.updateStatus, description: 'old', observedAt: 'then' }]
  assert.deepEqual(
    lastErrorsOf(failed, setErrorCode.updateStatus, 'now', before).map(({ observedAt }) => observedAt),
    ['then', 'now'],
  )
})
