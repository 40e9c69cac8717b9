// SPDX-License-Identifier: Apache-2.0

// Every field of a pod spec that a set can hold, the newest ones included, counts: another value is another revision.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { embedded } from '../crds/embedded.ts'
import type { StructuralSchema } from '../crds/structural-schema.ts'
import { podTemplateHash } from './hash.ts'

interface Field {
  readonly path: string
  /** A pod spec with nothing but this field, which has the n-th of its values. */
  spec(value: 0 | 1): unknown
}

/** Every value that a schema leads to, lists and maps with one element each. */
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

/** Two values of the type, neither of them zero nor anybody's default. */
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

test('there are fields of Kubernetes that came after the type table', () => {
  assert.ok(all.length > 700, `${all.length} fields`)
  assert.ok(all.some(({ path }) => path === 'podSpec.schedulingGroup.podGroupName'))
})

test('two values of any field are two revisions', () => {
  const blind = all.filter(({ spec }) => hash(spec(0)) === hash(spec(1))).map(({ path }) => path)
  assert.deepEqual(blind, [])
})

test('any field with a value differs from none', () => {
  const blind = all.filter(({ spec }) => hash(spec(0)) === hash({})).map(({ path }) => path)
  // Said once more in the same words as the default, or an alias that means nothing alone.
  assert.deepEqual(blind, ['podSpec.enableServiceLinks'])
})
