// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { configMap, pod } from '../objects.ts'
import { chapter } from '../suite.ts'

const modified = 'the object has been modified; please apply your changes to the latest version and try again'

export const preconditions = chapter('preconditions', {
  'an update from an old version is a conflict': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), configMap('a'))
    await http.mergePatch(core('configmaps/a'), { data: { key: 'newer' } })
    const rejected = await http.put(core('configmaps/a'), { ...made.object(), data: { key: 'mine' } })
    assert.equal(rejected.status, 409)
    assert.deepEqual(rejected.body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: `Operation cannot be fulfilled on configmaps "a": ${modified}`,
      reason: 'Conflict',
      details: { name: 'a', kind: 'configmaps' },
      code: 409,
    })
  },
  'the conflict of a kind with a group names the group': async ({ http, group }) => {
    const path = group('coordination.k8s.io/v1', 'leases')
    const made = await http.post(path, { metadata: { name: 'l' }, spec: { holderIdentity: 'a' } })
    await http.mergePatch(`${path}/l`, { spec: { holderIdentity: 'b' } })
    const rejected = await http.put(`${path}/l`, made.object())
    assert.equal(
      rejected.at('message'),
      `Operation cannot be fulfilled on leases.coordination.k8s.io "l": ${modified}`,
    )
    assert.deepEqual(rejected.at('details'), { name: 'l', group: 'coordination.k8s.io', kind: 'leases' })
  },
  'an update without a resourceVersion is unconditional': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    const updated = await http.put(core('configmaps/a'), configMap('a', { key: 'forced' }))
    assert.equal(updated.status, 200)
    assert.equal(updated.at('data.key'), 'forced')
  },
  'some kinds require a resourceVersion in every update': async ({ http, group }) => {
    const path = group('coordination.k8s.io/v1', 'leases')
    await http.post(path, { metadata: { name: 'l' } })
    const rejected = await http.put(`${path}/l`, { metadata: { name: 'l' }, spec: { holderIdentity: 'b' } })
    assert.equal(rejected.status, 422)
    assert.equal(
      rejected.at('message'),
      'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    )
  },
  'an update with another uid is a conflict': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), configMap('a'))
    const rejected = await http.put(core('configmaps/a'), configMap('a', {}, { uid: 'other' }))
    assert.equal(rejected.status, 409)
    assert.match(
      rejected.text('message'),
      new RegExp(
        `Precondition failed: UID in precondition: other, UID in object meta: ${made.text('metadata.uid')}$`,
      ),
    )
  },
  'rejects an update with a resourceVersion that is not a number': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    const rejected = await http.put(core('configmaps/a'), configMap('a', {}, { resourceVersion: 'abc' }))
    assert.equal(rejected.status, 500)
    assert.equal(rejected.at('message'), 'strconv.ParseUint: parsing "abc": invalid syntax')
  },
  'rejects an update without a name': async ({ http, core }) => {
    await http.post(core('configmaps'), configMap('a'))
    const rejected = await http.put(core('configmaps/a'), { metadata: {} })
    assert.equal(rejected.status, 400)
    assert.equal(
      rejected.at('message'),
      'the name of the object (a based on URL) was undeterminable: name must be provided',
    )
  },
  'a deletion with another uid is a conflict': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), configMap('a'))
    const rejected = await http.delete(core('configmaps/a'), { preconditions: { uid: 'other' } })
    assert.equal(rejected.status, 409)
    assert.equal(
      rejected.at('message'),
      `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID in record (${made.text('metadata.uid')}). The object might have been deleted and then recreated`,
    )
  },
  'a deletion with an old version is a conflict': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), configMap('a'))
    const rejected = await http.delete(core('configmaps/a'), { preconditions: { resourceVersion: '1' } })
    assert.equal(rejected.status, 409)
    assert.equal(
      rejected.at('message'),
      `Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${made.text('metadata.resourceVersion')}). The object might have been modified`,
    )
  },
  'a deletion with the right uid and resourceVersion succeeds': async ({ http, core }) => {
    const made = await http.post(core('configmaps'), configMap('a'))
    const { uid, resourceVersion } = made.object().metadata
    assert.equal(
      (await http.delete(core('configmaps/a'), { preconditions: { uid, resourceVersion } })).status,
      200,
    )
  },
  'immutable metadata cannot change': async ({ http, core }) => {
    const made = await http.post(core('pods'), pod('a'))
    const object = made.object()
    const updated = await http.put(core('pods/a'), {
      ...object,
      metadata: { ...object.metadata, creationTimestamp: '2001-01-01T00:00:00Z' },
    })
    assert.equal(updated.status, 200)
    assert.equal(updated.at('metadata.creationTimestamp'), made.at('metadata.creationTimestamp'))
  },
})
