// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { configMap, pod } from '../objects.ts'
import { chapter } from '../suite.ts'

const uidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export const crud = chapter('create, read, update, delete', {
  'a created object gets uid, resourceVersion and creationTimestamp': async ({ http, core, namespace }) => {
    const made = await http.post(core('configmaps'), configMap('a'))
    assert.equal(made.status, 201)
    assert.match(made.text('metadata.uid'), uidPattern)
    assert.match(made.text('metadata.resourceVersion'), /^\d+$/)
    assert.match(made.text('metadata.creationTimestamp'), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.equal(made.at('metadata.namespace'), namespace)
    assert.equal(made.at('kind'), 'ConfigMap')
    assert.equal(made.at('apiVersion'), 'v1')
  },
  'get returns the created object': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), configMap('a'))
    const read = await http.get(core('configmaps/a'))
    assert.equal(read.status, 200)
    assert.deepEqual(read.body, made.body)
  },
  'kind and apiVersion may be left out of a built-in kind': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), { metadata: { name: 'a' } })
    assert.equal(made.status, 201)
    assert.equal(made.at('kind'), 'ConfigMap')
  },
  'YAML is accepted': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), 'metadata:\n  name: a\ndata:\n  k: v\n', {
      contentType: 'application/yaml',
    })
    assert.equal(made.status, 201)
    assert.equal(made.at('data.k'), 'v')
  },
  'creating an existing object is a conflict': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    const again = await http.post(core('configmaps'), configMap('a'))
    assert.equal(again.status, 409)
    assert.deepEqual(again.body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'configmaps "a" already exists',
      reason: 'AlreadyExists',
      details: { name: 'a', kind: 'configmaps' },
      code: 409,
    })
  },
  'a 404 names the resource and the object': async ({ http, core, group }) => {
    const missing = await http.get(core('pods/nope'))
    assert.equal(missing.status, 404)
    assert.equal(missing.at('message'), 'pods "nope" not found')
    assert.deepEqual(missing.at('details'), { name: 'nope', kind: 'pods' })
    const grouped = await http.get(group('apps/v1', 'deployments/nope'))
    assert.equal(grouped.at('message'), 'deployments.apps "nope" not found')
    assert.deepEqual(grouped.at('details'), { name: 'nope', group: 'apps', kind: 'deployments' })
  },
  'rejects an object in a namespace that does not exist': async ({ http, id }) => {
    const rejected = await http.post(`/api/v1/namespaces/${id}-missing/configmaps`, configMap('a'))
    assert.equal(rejected.status, 404)
    assert.equal(rejected.at('message'), `namespaces "${id}-missing" not found`)
  },
  'the namespace of the object must be the namespace of the path': async ({ http, core }) => {
    const rejected = await http.post(core('configmaps'), configMap('a', {}, { namespace: 'default' }))
    assert.equal(rejected.status, 400)
    assert.equal(
      rejected.at('message'),
      'the namespace of the provided object does not match the namespace sent on the request',
    )
    assert.equal(rejected.at('reason'), 'BadRequest')
  },
  'generateName adds five random characters': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), { metadata: { generateName: 'some-' } })
    assert.equal(made.status, 201)
    assert.match(made.text('metadata.name'), /^some-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    assert.equal(made.at('metadata.generateName'), 'some-')
  },
  'a name takes precedence over generateName': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), { metadata: { name: 'a', generateName: 'b-' } })
    assert.equal(made.at('metadata.name'), 'a')
  },
  'cuts long generateName prefixes to 58 characters': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), { metadata: { generateName: 'x'.repeat(63) } })
    assert.equal(made.text('metadata.name').length, 63)
  },
  'a create request cannot set the resourceVersion': async ({ http, core }) => {
    const rejected = await http.post(core('configmaps'), configMap('a', {}, { resourceVersion: '5' }))
    assert.equal(rejected.status, 500)
    assert.equal(rejected.at('message'), 'resourceVersion should not be set on objects to be created')
  },
  'a create request cannot set the uid': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), configMap('a', {}, { uid: 'mine' }))
    assert.match(made.text('metadata.uid'), uidPattern)
  },
  'a create request cannot set deletionTimestamp and generation': async ({ http, core }) => {
    const made = await http.post(
      core('configmaps'),
      configMap('a', {}, { deletionTimestamp: '2020-01-01T00:00:00Z', generation: 7 }),
    )
    assert.equal(made.status, 201)
    assert.equal(made.at('metadata.deletionTimestamp'), undefined)
  },
  'an update replaces the object': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), configMap('a', { x: '1', y: '2' }))
    const updated = await http.put(core('configmaps/a'), { ...made.object(), data: { x: '3' } })
    assert.equal(updated.status, 200)
    assert.deepEqual(updated.at('data'), { x: '3' })
    assert.equal(updated.at('metadata.uid'), made.at('metadata.uid'))
    assert.equal(updated.at('metadata.creationTimestamp'), made.at('metadata.creationTimestamp'))
    assert.ok(Number(updated.at('metadata.resourceVersion')) > Number(made.at('metadata.resourceVersion')))
  },
  'an update without changes writes nothing': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), configMap('a'))
    const updated = await http.put(core('configmaps/a'), made.object())
    assert.equal(updated.status, 200)
    assert.equal(updated.at('metadata.resourceVersion'), made.at('metadata.resourceVersion'))
  },
  'an update of an object that does not exist returns 404': async ({ http, core }) => {
    const rejected = await http.put(core('configmaps/a'), configMap('a'))
    assert.equal(rejected.status, 404)
    assert.equal(rejected.at('message'), 'configmaps "a" not found')
  },
  'an update creates objects of some kinds': async ({ http, group }) => {
    const made = await http.put(group('coordination.k8s.io/v1', 'leases/a'), {
      metadata: { name: 'a' },
      spec: { holderIdentity: 'me' },
    })
    assert.equal(made.status, 201)
    assert.equal(made.at('spec.holderIdentity'), 'me')
  },
  'the name in an update must be the name of the path': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    const rejected = await http.put(core('configmaps/a'), configMap('b'))
    assert.equal(rejected.status, 400)
    assert.equal(rejected.at('message'), 'the name of the object (b) does not match the name on the URL (a)')
  },
  'a deletion returns a Status': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), configMap('a'))
    const deleted = await http.delete(core('configmaps/a'))
    assert.equal(deleted.status, 200)
    assert.deepEqual(deleted.body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid: made.at('metadata.uid') },
    })
    assert.equal((await http.get(core('configmaps/a'))).status, 404)
  },
  'a deletion of some kinds returns the object': async ({ http, core }) => {
    await http.post(core('serviceaccounts'), { metadata: { name: 'a' } })
    const deleted = await http.delete(core('serviceaccounts/a'))
    assert.equal(deleted.at('kind'), 'ServiceAccount')
    await http.post(core('pods'), pod('p'))
    assert.equal((await http.delete(core('pods/p'))).at('kind'), 'Pod')
  },
  'deleting an object that does not exist returns 404': async ({ http, core }) => {
    const rejected = await http.delete(core('configmaps/a'))
    assert.equal(rejected.status, 404)
    assert.equal(rejected.at('reason'), 'NotFound')
  },
  'a list has a resourceVersion, and its items are sorted by name': async ({ http, core }) => {
    for (const name of ['c', 'a', 'b']) await http.post(core('configmaps'), configMap(name))
    const list = await http.get(core('configmaps'))
    assert.equal(list.at('kind'), 'ConfigMapList')
    assert.equal(list.at('apiVersion'), 'v1')
    assert.match(list.text('metadata.resourceVersion'), /^\d+$/)
    assert.deepEqual(list.names, ['a', 'b', 'c'])
  },
  'items of a built-in list do not repeat kind and apiVersion': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    const list = await http.get(core('configmaps'))
    assert.equal(list.at('items.0.kind'), undefined)
    assert.equal(list.at('items.0.apiVersion'), undefined)
  },
  'a list over all namespaces has the objects of each namespace': async ({ http, core, id }) => {
    await http.post(core('configmaps'), configMap(id))
    const list = await http.get('/api/v1/configmaps', { query: { fieldSelector: `metadata.name=${id}` } })
    assert.deepEqual(list.names, [id])
  },
  'deletecollection deletes the selected objects and returns them': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a', {}, { labels: { go: 'yes' } }))
    await http.post(core('configmaps'), configMap('b', {}, { labels: { go: 'yes' } }))
    await http.post(core('configmaps'), configMap('c'))
    const deleted = await http.delete(core('configmaps'), undefined, { query: { labelSelector: 'go=yes' } })
    assert.equal(deleted.status, 200)
    assert.equal(deleted.at('kind'), 'ConfigMapList')
    assert.deepEqual(deleted.names, ['a', 'b'])
    assert.deepEqual((await http.get(core('configmaps'))).names, ['c'])
  },
  'namespaces cannot be deleted as a collection': async ({ http }) => {
    const rejected = await http.delete('/api/v1/namespaces')
    assert.equal(rejected.status, 405)
    assert.equal(rejected.at('reason'), 'MethodNotAllowed')
  },
})
