// SPDX-License-Identifier: Apache-2.0

// Every field of a pod spec counts, the newest ones included: another value is another revision.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { embedded } from '../crds/embedded.ts'
import type { StructuralSchema } from '../crds/structural-schema.ts'
import { podTemplateHash } from './hash.ts'

interface Field {
  readonly path: string
  /** A pod spec with this field alone, with one of two values. */
  spec(value: 0 | 1): unknown
}

/** Every field of a schema, with lists and maps of one element each. */
function* fields(
  schema: StructuralSchema,
  path: string,
  wrap: (value: unknown) => unknown,
): Generator<Field> {
  if (schema.properties)
    for (const [name, part] of Object.entries(schema.properties))
      yield* fields(part, `${path}.${name}`, value => wrap({ [name]: value }))
  else if (schema.items) yield* fields(schema.items, `${path}[]`, value => wrap([value]))
  else if (typeof schema.additionalProperties === 'object')
    yield* fields(schema.additionalProperties, `${path}{}`, value => wrap({ key: value }))
  else yield { path, spec: at => wrap(values(schema)[at]) }
}

/** Two values of the type, neither zero nor a default. */
function values(schema: StructuralSchema): [unknown, unknown] {
  if ('x-kubernetes-int-or-string' in schema && schema['x-kubernetes-int-or-string']) return ['3', '5']
  switch (schema.type) {
    case 'boolean':
      return [true, false]
    case 'integer':
    case 'number':
      return [77, 78]
    default:
      return ['one', 'two']
  }
}

const hash = (podSpec: unknown) => podTemplateHash({}, { spec: { podSpec } })
const all = [...fields(embedded('core.v1.PodSpec'), 'podSpec', value => value)]

test('the schema has Kubernetes fields that are newer than the type table', () => {
  assert.ok(all.length > 700, `${all.length} fields`)
  assert.ok(all.some(({ path }) => path === 'podSpec.schedulingGroup.podGroupName'))
})

test('two values of any field are two revisions', () => {
  const blind = all.filter(({ spec }) => hash(spec(0)) === hash(spec(1))).map(({ path }) => path)
  assert.deepEqual(blind, [])
})

test('any field with a value differs from an absent one', () => {
  const blind = all.filter(({ spec }) => hash(spec(0)) === hash({})).map(({ path }) => path)
  // A value that equals the default.
  assert.deepEqual(blind, ['podSpec.enableServiceLinks'])
})
