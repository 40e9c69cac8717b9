// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { configMap, deployment, pod } from '../objects.ts'
import { chapter, type Fixture } from '../suite.ts'

const finalizer = 'example.com/hold'

async function held({ http, core }: Fixture): Promise<string> {
  await http.post(core('configmaps'), configMap('a', {}, { finalizers: [finalizer] }))
  return core('configmaps/a')
}

async function bound({ http, core }: Fixture, spec: object = {}): Promise<string> {
  await http.post(core('pods'), pod('p', { nodeName: 'n1', ...spec }))
  return core('pods/p')
}

export const deletion = chapter('finalizers and graceful deletion', {
  'an object with a finalizer is marked for deletion': async fixture => {
    const path = await held(fixture)
    const deleted = await fixture.http.delete(path)
    assert.equal(deleted.status, 200)
    assert.equal(deleted.at('kind'), 'ConfigMap')
    assert.match(deleted.text('metadata.deletionTimestamp'), /Z$/)
    assert.equal(deleted.at('metadata.deletionGracePeriodSeconds'), 0)
    assert.equal((await fixture.http.get(path)).status, 200)
  },
  'an object is deleted when its last finalizer is removed': async fixture => {
    const path = await held(fixture)
    await fixture.http.delete(path)
    const patched = await fixture.http.mergePatch(path, { metadata: { finalizers: null } })
    assert.equal(patched.status, 200)
    assert.equal((await fixture.http.get(path)).status, 404)
  },
  'removing finalizers does not delete an object that is not terminating': async fixture => {
    const path = await held(fixture)
    await fixture.http.mergePatch(path, { metadata: { finalizers: null } })
    assert.equal((await fixture.http.get(path)).status, 200)
  },
  'a second deletion keeps the first deletionTimestamp': async fixture => {
    const path = await held(fixture)
    const first = await fixture.http.delete(path)
    const second = await fixture.http.delete(path)
    assert.equal(second.status, 200)
    assert.equal(second.at('metadata.deletionTimestamp'), first.at('metadata.deletionTimestamp'))
    assert.equal(second.at('metadata.resourceVersion'), first.at('metadata.resourceVersion'))
  },
  'a deletion cannot be reverted': async fixture => {
    const path = await held(fixture)
    await fixture.http.delete(path)
    const patched = await fixture.http.mergePatch(path, { metadata: { deletionTimestamp: null } })
    assert.match(patched.text('metadata.deletionTimestamp'), /Z$/)
  },
  'rejects new finalizers on a terminating object': async fixture => {
    const path = await held(fixture)
    await fixture.http.delete(path)
    const rejected = await fixture.http.mergePatch(path, {
      metadata: { finalizers: [finalizer, 'example.com/more'] },
    })
    assert.equal(rejected.status, 422)
    assert.match(
      rejected.text('message'),
      /metadata\.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers \[\]string\{"example\.com\/more"\}/,
    )
  },
  'a finalizer must have a qualified name': async ({ http, core }) => {
    const rejected = await http.post(core('configmaps'), configMap('a', {}, { finalizers: ['not valid'] }))
    assert.equal(rejected.status, 422)
    assert.equal(rejected.at('details.causes.0.field'), 'metadata.finalizers')
  },
  'orphaning sets a finalizer for the garbage collector': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    const deleted = await http.delete(core('configmaps/a'), { propagationPolicy: 'Orphan' })
    assert.deepEqual(deleted.at('metadata.finalizers'), ['orphan'])
    assert.notEqual(deleted.at('metadata.deletionTimestamp'), undefined)
  },
  'foreground deletion sets a finalizer for the garbage collector': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a', {}, { finalizers: [finalizer] }))
    const deleted = await http.delete(core('configmaps/a'), { propagationPolicy: 'Foreground' })
    assert.deepEqual(deleted.at('metadata.finalizers'), [finalizer, 'foregroundDeletion'])
  },
  'background deletion sets no finalizer': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    assert.equal(
      (await http.delete(core('configmaps/a'), { propagationPolicy: 'Background' })).at('status'),
      'Success',
    )
  },
  'accepts the propagation policy as a query parameter': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    const deleted = await http.delete(core('configmaps/a'), undefined, {
      query: { propagationPolicy: 'Foreground' },
    })
    assert.deepEqual(deleted.at('metadata.finalizers'), ['foregroundDeletion'])
  },
  'accepts three propagation policies': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    const rejected = await http.delete(core('configmaps/a'), { propagationPolicy: 'Sideways' })
    assert.equal(rejected.status, 422)
    assert.equal(
      rejected.at('message'),
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
    )
  },
  'deletes a pod without a node at once': async ({ http, core }) => {
    await http.post(core('pods'), pod('p'))
    const deleted = await http.delete(core('pods/p'))
    assert.equal(deleted.at('metadata.deletionGracePeriodSeconds'), 0)
    assert.equal((await http.get(core('pods/p'))).status, 404)
  },
  'a pod on a node gets its grace period': async fixture => {
    const path = await bound(fixture)
    const deleted = await fixture.http.delete(path)
    assert.equal(deleted.status, 200)
    assert.equal(deleted.at('metadata.deletionGracePeriodSeconds'), 30)
    const left =
      Date.parse(deleted.text('metadata.deletionTimestamp')) -
      Date.parse(deleted.text('metadata.creationTimestamp'))
    assert.ok(left >= 30_000 && left < 60_000)
    assert.equal((await fixture.http.get(path)).status, 200)
  },
  'uses the grace period of the pod': async fixture => {
    const path = await bound(fixture, { terminationGracePeriodSeconds: 7 })
    assert.equal((await fixture.http.delete(path)).at('metadata.deletionGracePeriodSeconds'), 7)
  },
  'a delete request can set the grace period': async fixture => {
    const path = await bound(fixture)
    assert.equal(
      (await fixture.http.delete(path, { gracePeriodSeconds: 5 })).at('metadata.deletionGracePeriodSeconds'),
      5,
    )
  },
  'the start of a deletion increments the generation': async fixture => {
    const path = await bound(fixture)
    assert.equal((await fixture.http.delete(path)).at('metadata.generation'), 2)
  },
  'a grace period can be shortened but not extended': async fixture => {
    const path = await bound(fixture)
    await fixture.http.delete(path, { gracePeriodSeconds: 20 })
    assert.equal(
      (await fixture.http.delete(path, { gracePeriodSeconds: 10 })).at('metadata.deletionGracePeriodSeconds'),
      10,
    )
    assert.equal(
      (await fixture.http.delete(path, { gracePeriodSeconds: 15 })).at('metadata.deletionGracePeriodSeconds'),
      10,
    )
    assert.equal((await fixture.http.delete(path)).at('metadata.deletionGracePeriodSeconds'), 10)
  },
  'grace period 0 deletes the pod at once': async fixture => {
    const path = await bound(fixture)
    await fixture.http.delete(path)
    const deleted = await fixture.http.delete(path, { gracePeriodSeconds: 0 })
    assert.equal(deleted.status, 200)
    assert.equal((await fixture.http.get(path)).status, 404)
  },
  'a finished pod has no grace period': async fixture => {
    const path = await bound(fixture)
    await fixture.http.mergePatch(`${path}/status`, { status: { phase: 'Succeeded' } })
    await fixture.http.delete(path)
    assert.equal((await fixture.http.get(path)).status, 404)
  },
  'a pod with a finalizer stays after its grace period': async ({ http, core }) => {
    await http.post(core('pods'), pod('p', {}, { finalizers: [finalizer] }))
    const deleted = await http.delete(core('pods/p'))
    assert.equal(deleted.at('metadata.deletionGracePeriodSeconds'), 0)
    assert.equal((await http.get(core('pods/p'))).status, 200)
    await http.mergePatch(core('pods/p'), { metadata: { finalizers: null } })
    assert.equal((await http.get(core('pods/p'))).status, 404)
  },
  'marking for deletion increments the generation, if the kind has one': async ({ http, group }) => {
    const path = group('apps/v1', 'deployments')
    await http.post(path, { ...deployment('d'), metadata: { name: 'd', finalizers: [finalizer] } })
    const deleted = await http.delete(`${path}/d`)
    assert.equal(deleted.at('metadata.generation'), 2)
  },
  'a deleted namespace is in phase Terminating': async ({ http, id }) => {
    const deleted = await http.delete(`/api/v1/namespaces/${id}`)
    assert.equal(deleted.at('status.phase'), 'Terminating')
    assert.notEqual(deleted.at('metadata.deletionTimestamp'), undefined)
  },
  'rejects new objects in a terminating namespace': async ({ http, id, core }) => {
    await http.delete(`/api/v1/namespaces/${id}`)
    const rejected = await ground403(http, core('configmaps'))
    assert.equal(
      rejected.at('message'),
      `configmaps "a" is forbidden: unable to create new content in namespace ${id} because it is being terminated`,
    )
    assert.deepEqual(rejected.at('details.causes'), [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${id} is being terminated`,
        field: 'metadata.namespace',
      },
    ])
  },
  'a namespace is deleted when it is finalized': async ({ http, id }) => {
    const deleted = await http.delete(`/api/v1/namespaces/${id}`)
    const finalized = await http.put(`/api/v1/namespaces/${id}/finalize`, {
      ...deleted.object(),
      spec: { finalizers: [] },
    })
    assert.equal(finalized.status, 200)
    assert.equal((await http.get(`/api/v1/namespaces/${id}`)).status, 404)
  },
  'some namespaces cannot be deleted': async ({ http }) => {
    const rejected = await http.delete('/api/v1/namespaces/default')
    assert.equal(rejected.status, 403)
    assert.equal(
      rejected.at('message'),
      'namespaces "default" is forbidden: this namespace may not be deleted',
    )
  },
})

async function ground403(http: Fixture['http'], path: string) {
  const rejected = await http.post(path, configMap('a'))
  assert.equal(rejected.status, 403)
  return rejected
}
