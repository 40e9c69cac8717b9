// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CustomResourceDefinition, customResourceDefinitions, generatorAnnotation } from '@grove/api'
import { droppedFields } from './dropped-fields.ts'
import { isUpgrade } from './release.ts'

type Spec = Pick<CustomResourceDefinition, 'spec'>

const withSchema = (openAPIV3Schema: object, name = 'v1alpha1'): Spec =>
  ({ spec: { versions: [{ name, served: true, storage: true, schema: { openAPIV3Schema } }] } }) as never

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const text = { type: 'string' }

const rows: [string, object, object, string[]][] = [
  ['the same schema', object({ a: text }), object({ a: text }), []],
  ['a new field', object({ a: text }), object({ a: text, b: text }), []],
  ['a removed field', object({ a: text, b: text }), object({ a: text }), ['v1alpha1: b']],
  [
    'a removed field inside lists and maps',
    object({
      list: { type: 'array', items: object({ a: text, b: text }) },
      map: { type: 'object', additionalProperties: object({ c: text, d: text }) },
    }),
    object({
      list: { type: 'array', items: object({ a: text }) },
      map: { type: 'object', additionalProperties: object({ c: text }) },
    }),
    ['v1alpha1: list[].b', 'v1alpha1: map.*.d'],
  ],
  [
    'unknown fields that are kept now',
    object({ a: object({ b: text }) }),
    object({ a: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }),
    [],
  ],
  [
    'a field that is now part of a map',
    object({ a: object({ b: text }) }),
    object({ a: { type: 'object', additionalProperties: text } }),
    [],
  ],
]
for (const [what, installed, wanted, dropped] of rows)
  test(`dropped fields: ${what}`, () =>
    assert.deepEqual(droppedFields(withSchema(installed), withSchema(wanted)), dropped))

test('a version that is missing is dropped as a whole', () =>
  assert.deepEqual(droppedFields(withSchema({}, 'v1'), withSchema({})), ['v1: the whole version']))

test('the CRDs of this release drop no field of themselves', () => {
  for (const crd of customResourceDefinitions) assert.deepEqual(droppedFields(crd, crd), [])
})

const by = (text?: string): Pick<CustomResourceDefinition, 'metadata'> => ({
  metadata: { name: 'x', ...(text !== undefined && { annotations: { [generatorAnnotation]: text } }) },
})
for (const [installed, wanted, expected] of [
  ['grove 0.1.0, Kubernetes v1.35', 'grove 0.2.0, Kubernetes v1.35', true],
  ['grove 0.9.9', 'grove 0.10.0', true],
  ['grove 0.2.0', 'grove 0.1.9', false],
  ['grove 0.1.0', 'grove 0.1.0', false],
  [undefined, 'grove 0.1.0', false],
  ['controller-gen v0.20', 'grove 0.1.0', false],
] as const)
  test(`from ${installed} to ${wanted} is ${expected ? '' : 'not known to be '}an upgrade`, () =>
    assert.equal(isUpgrade(by(installed), by(wanted)), expected))
