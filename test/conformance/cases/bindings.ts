// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { pod } from '../objects.ts'
import { chapter, type Fixture } from '../suite.ts'

const bind = ({ http, core }: Fixture, target: object, metadata: object = {}) =>
  http.post(core('pods/p/binding'), {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: 'p', ...metadata },
    target,
  })

export const bindings = chapter('bindings', {
  'copies labels and annotations to the pod': async fixture => {
    const { http, core } = fixture
    await http.post(core('pods'), pod('p'))
    const bound = await bind(fixture, { name: 'n1' }, { annotations: { x: 'y' }, labels: { q: 'r' } })
    assert.equal(bound.status, 201)
    const read = await http.get(core('pods/p'))
    assert.equal(read.at('spec.nodeName'), 'n1')
    assert.deepEqual(read.at('metadata.annotations'), { x: 'y' })
    assert.deepEqual(read.at('metadata.labels'), { q: 'r' })
  },
  'labels a pod with zone and region of its node': async fixture => {
    const { http, core, id } = fixture
    const place = { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r' }
    await http.post('/api/v1/nodes', { metadata: { name: id, labels: { ...place, other: 'o' } } })
    // The API server reads nodes from a cache.
    await fixture.eventually(
      () => http.post(core('pods?dryRun=All'), pod('q', { nodeName: id })),
      made => made.at('metadata.labels') !== undefined,
    )
    const labels = { 'topology.kubernetes.io/zone': 'own', app: 'x' }
    const made = await http.post(core('pods'), pod('q', { nodeName: id }, { labels }))
    assert.deepEqual(made.at('metadata.labels'), { ...place, app: 'x' })
    await http.post(core('pods'), pod('p', {}, { labels }))
    await bind(fixture, { kind: 'Node', name: id })
    assert.deepEqual((await http.get(core('pods/p'))).at('metadata.labels'), { ...place, app: 'x' })
    await http.post(core('pods'), pod('r', {}, { labels }))
    const target = { name: id }
    const kind = 'Binding'
    await http.post(core('pods/r/binding'), { apiVersion: 'v1', kind, metadata: { name: 'r' }, target })
    assert.deepEqual((await http.get(core('pods/r'))).at('metadata.labels'), labels)
    await http.delete(`/api/v1/nodes/${id}`)
  },
  'requires a node': async fixture => {
    await fixture.http.post(fixture.core('pods'), pod('p'))
    const nowhere = await bind(fixture, {})
    assert.equal(nowhere.status, 500)
    assert.equal(nowhere.at('message'), 'target.name: Required value')
    assert.equal(
      (await bind(fixture, { kind: 'Pod', name: 'n' })).at('message'),
      'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
    )
  },
  'requires the name of the pod in the path': async fixture => {
    await fixture.http.post(fixture.core('pods'), pod('p'))
    const rejected = await bind(fixture, { name: 'n' }, { name: 'other' })
    assert.equal(rejected.status, 400)
    assert.equal(rejected.at('message'), 'name in URL does not match name in Binding object')
    assert.equal(
      (await bind(fixture, { name: 'n' }, { uid: '00000000-0000-4000-8000-000000000000' })).status,
      409,
    )
  },
  'rejects a pod that is terminating': async fixture => {
    const { http, core } = fixture
    await http.post(core('pods'), pod('p', {}, { finalizers: ['example.com/hold'] }))
    await http.delete(core('pods/p'))
    const rejected = await bind(fixture, { name: 'n' })
    assert.equal(rejected.status, 409)
    assert.match(rejected.text('message'), /pod p is being deleted, cannot be assigned to a host$/)
    await http.mergePatch(core('pods/p'), { metadata: { finalizers: null } })
  },
})
