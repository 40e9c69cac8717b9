// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseWithoutManagedFields, type ResponseShape } from './managed-fields.ts'

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The reference: parses everything, then deletes. */
function parseThenDelete(text: string, shape: ResponseShape): unknown {
  const value: unknown = JSON.parse(text)
  const strip = (object: unknown) => {
    if (isObject(object) && isObject(object.metadata)) delete object.metadata.managedFields
  }
  if (shape === 'object') strip(value)
  else if (!isObject(value)) return value
  else if (shape === 'event') strip(value.object)
  else if (Array.isArray(value.items)) value.items.forEach(strip)
  return value
}

const shapes = ['object', 'list', 'event'] as const

function assertSame(text: string): void {
  for (const shape of shapes) {
    const wanted = parseThenDelete(text, shape)
    assert.deepEqual(parseWithoutManagedFields(Buffer.from(text), shape), wanted)
    assert.deepEqual(parseWithoutManagedFields(text, shape), wanted)
  }
}

/** Names with a meaning anywhere in a response, and others. */
const names = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('metadata', 'managedFields', 'items', 'object', 'spec', 'kind') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('"managedFields":[', 'managedFields\\', '\\"', '', '}', '__proto__'),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
)

const json = fc.letrec<{ value: unknown; object: unknown; list: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 6, depthIdentifier: 'json' },
    fc.oneof(names, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
    tie('object'),
    tie('list'),
  ),
  object: fc.dictionary(names, tie('value'), { maxKeys: 5, depthIdentifier: 'json' }),
  list: fc.array(tie('value'), { maxLength: 4, depthIdentifier: 'json' }),
}))

/** API objects with arbitrary content in the relevant places. */
const metadata = fc.dictionary(
  fc.constantFrom('name', 'managedFields', 'annotations', 'labels', 'metadata'),
  json.value,
)
const object = fc.dictionary(fc.constantFrom('kind', 'metadata', 'spec', 'items', 'object'), json.value)
const kubeObject = fc.tuple(object, metadata).map(([rest, metadata]) => ({ ...rest, metadata }))
const response = fc.oneof(
  json.value,
  kubeObject,
  fc.record({ metadata, items: fc.array(fc.oneof(kubeObject, json.value)) }),
  fc.record({ type: json.value, object: kubeObject, metadata }),
)

describe('parseWithoutManagedFields', () => {
  it('equals JSON.parse followed by delete, for any JSON and layout', () => {
    const layout = fc.constantFrom(undefined, 1, '\t', '\r\n ')
    fc.assert(
      fc.property(response, layout, (value, space) => assertSame(JSON.stringify(value, null, space))),
      { numRuns: 2_000 },
    )
  })

  const odd = {
    'an escaped name': '{"meta\\u0064ata":{"managed\\u0046ields":[1],"name":"a"}}',
    'duplicate names':
      '{"metadata":{"managedFields":[1]},"metadata":{"a":1,"managedFields":[1],"managedFields":[2],"b":2}}',
    'only managedFields in the metadata': '{"metadata":{"managedFields":[]},"spec":{}}',
    'managedFields first': '{"metadata":{"managedFields":[{"a":"]}"}],"name":"a"}}',
    'managedFields in the middle': '{"metadata":{"uid":"1" , "managedFields" : [ ] , "name":"a"}}',
    'managedFields last': '{"metadata":{"name":"a","managedFields":null}}',
    'the name as a value':
      '{"metadata":{"name":"managedFields","annotations":{"managedFields":"managedFields"}}}',
    'characters of several bytes':
      '{"metadata":{"name":"ä€😀","managedFields":[{"ä€😀":"😀"}],"uid":"ä€😀"}}',
  }
  for (const [what, text] of Object.entries(odd))
    it(`handles ${what}`, () => {
      assertSame(text)
      assertSame(`{"type":"ADDED","object":${text}}`)
      assertSame(`{"items":[${text},{},${text}]}`)
    })

  it('rejects truncated responses, as JSON.parse does', () => {
    const texts = Object.values(odd).flatMap(text => [
      [text, 'object'],
      [`{"object":${text}}`, 'event'],
      [`{"items":[${text}]}`, 'list'],
    ]) as [string, ResponseShape][]
    for (const [text, shape] of texts)
      for (let end = 0; end < text.length; end++)
        assert.throws(() => parseWithoutManagedFields(Buffer.from(text.slice(0, end)), shape), SyntaxError)
  })

  it('rejects invalid JSON next to managedFields', () => {
    for (const text of [
      '{"metadata":{"managedFields":[]}',
      '{"metadata":{"managedFields":[]}}}',
      '{,"managedFields":1}',
    ])
      for (const shape of shapes)
        assert.throws(() => parseWithoutManagedFields(Buffer.from(text), shape), SyntaxError)
    const odd = [
      '{"metadata":{"managedFields":[],}}',
      '{"metadata":{,"managedFields":[]}}',
      '{"metadata":{"managedFields":}}',
    ]
    for (const text of odd)
      assert.throws(() => parseWithoutManagedFields(Buffer.from(text), 'object'), SyntaxError)
  })
})
