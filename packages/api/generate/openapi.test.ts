// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { definitionFile } from './definition-file.ts'
import { shortName, simplify } from './extract-openapi.ts'
import { reachable } from './openapi.ts'

describe('what is taken from the OpenAPI', () => {
  const names: [string, string][] = [
    ['io.k8s.api.core.v1.PodSpec', 'core.v1.PodSpec'],
    ['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', 'meta.v1.ObjectMeta'],
    ['io.k8s.apimachinery.pkg.api.resource.Quantity', 'meta.v1.Quantity'],
    [
      'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition',
      'apiextensions.v1.CustomResourceDefinition',
    ],
  ]
  for (const [long, short] of names)
    test(`${long} is called ${short}`, () => assert.equal(shortName(long), short))

  test('texts are left out, references lose the default that stands beside them', () => {
    const schema = simplify({
      description: 'A pod.',
      type: 'object',
      properties: {
        spec: {
          description: 'Its spec.',
          allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.PodSpec' }],
          default: {},
        },
      },
    })
    assert.deepEqual(schema, { type: 'object', properties: { spec: { $ref: 'core.v1.PodSpec' } } })
  })

  test('a zero value of a required member is no default', () => {
    const schema = simplify({
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string', default: '' }, protocol: { type: 'string', default: 'TCP' } },
    })
    assert.deepEqual(schema.properties, {
      name: { type: 'string' },
      protocol: { type: 'string', default: 'TCP' },
    })
  })

  test('a kind is kept where there is only one', () => {
    const pod = { group: '', version: 'v1', kind: 'Pod' }
    const one = simplify({ type: 'object', 'x-kubernetes-group-version-kind': [pod] })
    assert.deepEqual(one['x-kubernetes-group-version-kind'], [pod])
    const many = simplify({
      type: 'object',
      'x-kubernetes-group-version-kind': [pod, { ...pod, version: 'v2' }],
    })
    assert.equal(many['x-kubernetes-group-version-kind'], undefined)
  })

  test('only what the roots need', () => {
    const all = {
      a: { properties: { list: { items: { $ref: 'b' } } } },
      b: { additionalProperties: { $ref: 'a' } },
      c: {},
    }
    assert.deepEqual(Object.keys(reachable(all, ['b'])), ['a', 'b'])
    assert.throws(() => reachable(all, ['d']), /no definition d/)
  })
})

test('a definition file is JSON with one property a line', () => {
  const text = definitionFile(
    'Made by a test.',
    { version: 1 },
    { a: { type: 'object', properties: { x: {}, y: {} } }, b: {} },
  )
  assert.deepEqual(JSON.parse(text), {
    '//': 'Made by a test.',
    version: 1,
    definitions: { a: { type: 'object', properties: { x: {}, y: {} } }, b: {} },
  })
  assert.match(text, /^ {8}"x": \{\},\n {8}"y": \{\}$/m)
})
