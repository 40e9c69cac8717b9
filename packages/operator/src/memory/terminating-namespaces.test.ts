// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setErrorCode } from '@grove/api'
import { captureLog, FakeClock, KubeError } from '@grove/kube'
import {
  CodedError,
  ComponentFailed,
  isNamespaceTerminating,
  lastErrorsOf,
  ReconcileFailed,
} from '../errors/coded-error.ts'
import type { StoredSet } from '../layout/stored.ts'
import { clique, sampleSet } from '../testing/sample-set.ts'
import { SetTable } from './set-table.ts'
import { TerminatingNamespaces } from './terminating-namespaces.ts'

const rejection = (reason: string) =>
  new KubeError({
    code: 'Forbidden',
    message:
      'pods "x" is forbidden: unable to create new content in namespace serving because it is being terminated',
    details: { causes: [{ reason }] },
  })
const wrapped = (error: unknown) =>
  new ReconcileFailed([
    new Error('something else'),
    new ComponentFailed('Pod', new CodedError('Sync', setErrorCode.syncClique, 'cannot be written', error)),
  ])

test('recognizes a create in a terminating namespace among several failures', () => {
  assert.ok(isNamespaceTerminating(rejection('NamespaceTerminating')))
  assert.ok(isNamespaceTerminating(wrapped(rejection('NamespaceTerminating'))))
  assert.ok(!isNamespaceTerminating(wrapped(rejection('Quota'))))
  assert.ok(!isNamespaceTerminating(new KubeError({ code: 'Forbidden', message: 'no' })))
  assert.ok(!isNamespaceTerminating(undefined))
})

test('does not report it in the status', () => {
  const errors = lastErrorsOf(wrapped(rejection('NamespaceTerminating')), setErrorCode.updateStatus, 'now')
  assert.deepEqual(
    errors.map(({ description }) => description),
    ['something else'],
  )
})

describe('a reconcile in a namespace that is being deleted', () => {
  const set = sampleSet({ cliques: [clique('web')] })

  function harness() {
    const sets = new SetTable<true>(() => true)
    const namespaces = new TerminatingNamespaces(sets)
    const { log, lines } = captureLog()
    const context = { signal: new AbortController().signal, clock: new FakeClock(), log }
    let calls = 0
    const reconcile = (error: unknown, of: StoredSet = set, object = {}) =>
      namespaces.guarded(
        async () => {
          calls++
          if (error) throw error
          return { requeueAfter: 1 }
        },
        () => ({ set: of, ...object }),
      )('key', context)
    return {
      reconcile,
      lines,
      calls: () => calls,
      remove: () => sets.dropSet(set.metadata.uid),
    }
  }

  test('ends without an error, a retry or a second attempt, and is logged once', async () => {
    const { reconcile, lines, calls } = harness()
    for (let attempt = 0; attempt < 3; attempt++)
      assert.equal(await reconcile(wrapped(rejection('NamespaceTerminating'))), undefined)
    assert.equal(calls(), 1)
    assert.deepEqual(
      lines.map(({ level }) => level),
      ['info'],
    )
  })

  test('continues for a set that is being deleted itself, and for a new set of that name', async () => {
    const { reconcile, remove } = harness()
    await reconcile(rejection('NamespaceTerminating'))
    const deletionTimestamp = '2030-01-01T00:00:00Z'
    const deleted = { ...set, metadata: { ...set.metadata, deletionTimestamp } }
    assert.deepEqual(await reconcile(undefined, deleted), { requeueAfter: 1 })
    assert.deepEqual(await reconcile(undefined, set, { object: { metadata: { deletionTimestamp } } }), {
      requeueAfter: 1,
    })
    const successor = { ...set, metadata: { ...set.metadata, uid: 'another' } }
    assert.deepEqual(await reconcile(undefined, successor), { requeueAfter: 1 })
    remove()
    assert.deepEqual(await reconcile(undefined), { requeueAfter: 1 })
  })

  test('fails as usual for any other reason', async () => {
    const { reconcile } = harness()
    await assert.rejects(reconcile(rejection('Quota')))
  })
})
