// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { pod } from '../objects.ts'
import { containers, map, workload } from '../patched.ts'
import { chapter } from '../suite.ts'

const rejectedText = 'the server rejected our request due to an error in our request'

export const patches = chapter('patches', {
  'a merge patch adds, replaces and removes': async fixture => {
    const patched = await fixture.http.mergePatch(await map(fixture), { data: { a: '9', b: null, c: '3' } })
    assert.equal(patched.status, 200)
    assert.deepEqual(patched.at('data'), { a: '9', c: '3' })
  },
  'an empty merge patch writes nothing': async fixture => {
    const path = await map(fixture)
    const before = await fixture.http.get(path)
    const patched = await fixture.http.mergePatch(path, {})
    assert.equal(patched.at('metadata.resourceVersion'), before.at('metadata.resourceVersion'))
  },
  'a merge patch must be an object': async fixture => {
    const rejected = await fixture.http.mergePatch(await map(fixture), [])
    assert.equal(rejected.status, 400)
    assert.equal(
      rejected.at('message'),
      'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    )
  },
  'a merge patch replaces lists': async fixture => {
    const path = await workload(fixture)
    const patched = await fixture.http.mergePatch(path, containers([{ name: 'three', image: 'i:3' }]))
    assert.equal(patched.status, 200)
    assert.deepEqual(
      (patched.at('spec.template.spec.containers') as { name: string }[]).map(({ name }) => name),
      ['three'],
    )
  },
  'a JSON patch adds, replaces, removes, moves and copies': async fixture => {
    const patched = await fixture.http.jsonPatch(await map(fixture), [
      { op: 'test', path: '/data/a', value: '1' },
      { op: 'add', path: '/data/c', value: '3' },
      { op: 'replace', path: '/data/a', value: '9' },
      { op: 'remove', path: '/data/b' },
      { op: 'copy', from: '/data/a', path: '/data/d' },
      { op: 'move', from: '/data/c', path: '/data/e' },
    ])
    assert.equal(patched.status, 200)
    assert.deepEqual(patched.at('data'), { a: '9', d: '9', e: '3' })
  },
  'a JSON patch escapes slashes in keys': async fixture => {
    const path = await map(fixture)
    const patched = await fixture.http.jsonPatch(path, [
      { op: 'add', path: '/metadata/labels', value: {} },
      { op: 'add', path: '/metadata/labels/example.com~1key', value: 'v' },
    ])
    assert.deepEqual(patched.at('metadata.labels'), { 'example.com/key': 'v' })
  },
  'a JSON patch inserts into lists and appends to them': async fixture => {
    const path = await workload(fixture)
    const at = '/spec/template/spec/containers'
    const patched = await fixture.http.jsonPatch(path, [
      { op: 'add', path: `${at}/0`, value: { name: 'zero', image: 'i:0' } },
      { op: 'add', path: `${at}/-`, value: { name: 'last', image: 'i:9' } },
    ])
    assert.deepEqual(
      (patched.at('spec.template.spec.containers') as { name: string }[]).map(({ name }) => name),
      ['zero', 'one', 'two', 'last'],
    )
  },
  'a failing test in a JSON patch changes nothing': async fixture => {
    const path = await map(fixture)
    const rejected = await fixture.http.jsonPatch(path, [
      { op: 'replace', path: '/data/b', value: 'x' },
      { op: 'test', path: '/data/a', value: 'other' },
    ])
    assert.equal(rejected.status, 422)
    assert.equal(rejected.at('message'), rejectedText)
    assert.equal(rejected.at('reason'), 'Invalid')
    assert.equal((await fixture.http.get(path)).at('data.b'), '2')
  },
  'a JSON patch cannot remove an absent value': async fixture => {
    const rejected = await fixture.http.jsonPatch(await map(fixture), [{ op: 'remove', path: '/data/zz' }])
    assert.equal(rejected.status, 422)
    assert.equal(rejected.at('message'), rejectedText)
  },
  'a JSON patch must be a list': async fixture => {
    const rejected = await fixture.http.jsonPatch(await map(fixture), {
      op: 'add',
      path: '/data/x',
      value: 'y',
    })
    assert.equal(rejected.status, 400)
    assert.equal(
      rejected.at('message'),
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    )
  },
  'sets defaults after a patch': async ({ http, core }) => {
    await http.post(core('services'), { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } })
    const patched = await http.mergePatch(core('services/s'), { spec: { ports: [{ port: 81 }] } })
    assert.equal(patched.at('spec.ports.0.protocol'), 'TCP')
    assert.equal(patched.at('spec.ports.0.targetPort'), 81)
  },
  'a patch cannot change the name': async fixture => {
    const rejected = await fixture.http.mergePatch(await map(fixture), { metadata: { name: 'other' } })
    assert.equal(rejected.status, 400)
    assert.equal(
      rejected.at('message'),
      'the name of the object (other) does not match the name on the URL (m)',
    )
  },
  'a patch with an old resourceVersion is a conflict': async fixture => {
    const rejected = await fixture.http.mergePatch(await map(fixture), {
      metadata: { resourceVersion: '1' },
      data: { a: '7' },
    })
    assert.equal(rejected.status, 409)
    assert.equal(rejected.at('reason'), 'Conflict')
  },
  'a patch of an object that does not exist returns 404': async ({ http, core }) => {
    assert.equal((await http.mergePatch(core('configmaps/nope'), { data: { a: '1' } })).status, 404)
  },
  'a patch that sets a value of the wrong type is invalid': async fixture => {
    const rejected = await fixture.http.mergePatch(await map(fixture), { data: { a: 3 } })
    assert.equal(rejected.status, 422)
    assert.equal(rejected.at('reason'), 'Invalid')
    assert.equal(rejected.at('details.causes.0.field'), 'patch')
    assert.match(
      rejected.text('message'),
      /json: cannot unmarshal number into Go struct field ConfigMap\.data of type string$/,
    )
  },
  'rejects a patch that is not JSON': async fixture => {
    const rejected = await fixture.http.mergePatch(await map(fixture), '{')
    assert.equal(rejected.status, 400)
    assert.equal(rejected.at('message'), 'invalid JSON patch')
  },
  'requires a patch content type': async fixture => {
    const rejected = await fixture.http.call('PATCH', await map(fixture), { data: {} })
    assert.equal(rejected.status, 415)
    assert.equal(rejected.at('reason'), 'UnsupportedMediaType')
  },
  'warns of unknown fields in a patch': async fixture => {
    const patched = await fixture.http.mergePatch(await map(fixture), { nonsense: 1 })
    assert.equal(patched.status, 200)
    assert.equal(patched.headers.warning, '299 - "unknown field \\"nonsense\\""')
  },
  'rejects unknown fields in a patch with strict validation': async fixture => {
    const rejected = await fixture.http.mergePatch(
      await map(fixture),
      { nonsense: 1 },
      { query: { fieldValidation: 'Strict' } },
    )
    assert.equal(rejected.status, 422)
    assert.match(rejected.text('message'), /strict decoding error: unknown field "nonsense"$/)
  },
  'patches labels of a pod': async ({ http, core }) => {
    await http.post(core('pods'), pod('p', {}, { labels: { a: '1' } }))
    const patched = await http.strategicPatch(core('pods/p'), { metadata: { labels: { a: null, b: '2' } } })
    assert.deepEqual(patched.at('metadata.labels'), { b: '2' })
    assert.equal(patched.at('metadata.generation'), 1)
  },
})
