// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileSchema } from './compile.ts'
import type { JSONSchemaProps } from './json-schema-props.ts'
import { prune } from './prune.ts'

const schema = compileSchema({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        parts: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } },
        byName: {
          type: 'object',
          additionalProperties: { type: 'object', properties: { id: { type: 'integer' } } },
        },
        free: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { strict: { type: 'object', properties: { a: { type: 'string' } } } },
        },
        anything: { type: 'object', additionalProperties: true },
        object: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          properties: { spec: { type: 'object' } },
        },
      },
    },
  },
} satisfies JSONSchemaProps)

function pruned(spec: unknown): { value: unknown; dropped: readonly string[] } {
  const result = prune(schema, { spec })
  return { value: (result.value as { spec: unknown }).spec, dropped: result.dropped }
}

test('unknown fields are dropped and reported', () => {
  assert.deepEqual(pruned({ name: 'a', colour: 'red', parts: [{ id: 1 }, { id: 2, size: 3 }] }), {
    value: { name: 'a', parts: [{ id: 1 }, { id: 2 }] },
    dropped: ['spec.colour', 'spec.parts[1].size'],
  })
  assert.deepEqual(pruned({ byName: { x: { id: 1, size: 2 } } }), {
    value: { byName: { x: { id: 1 } } },
    dropped: ['spec.byName.x.size'],
  })
})

test('apiVersion, kind and metadata of the root stay, other undeclared fields do not', () => {
  const object = { apiVersion: 'a/v1', kind: 'K', metadata: { odd: { deep: 1 } }, spec: {}, extra: 1 }
  const { value, dropped } = prune(schema, object)
  assert.deepEqual(value, { apiVersion: 'a/v1', kind: 'K', metadata: { odd: { deep: 1 } }, spec: {} })
  assert.deepEqual(dropped, ['extra'])
})

test('declared fields are pruned inside even if unknown fields are preserved', () => {
  assert.deepEqual(pruned({ free: { x: { y: 1 }, strict: { a: 'b', c: 1 } } }), {
    value: { free: { x: { y: 1 }, strict: { a: 'b' } } },
    dropped: ['spec.free.strict.c'],
  })
})

test('additionalProperties: true keeps names but prunes their objects', () => {
  assert.deepEqual(pruned({ anything: { a: 1, b: { c: 1 } } }), {
    value: { anything: { a: 1, b: {} } },
    dropped: ['spec.anything.b.c'],
  })
})

test('an embedded resource keeps its metadata', () => {
  const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, spec: { a: 1 }, data: 1 }
  assert.deepEqual(pruned({ object }), {
    value: { object: { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, spec: {} } },
    dropped: ['spec.object.data', 'spec.object.spec.a'],
  })
})

test('objects in place of other types are emptied, and inherited names are unknown', () => {
  assert.deepEqual(pruned({ name: { a: 1 } }), { value: { name: {} }, dropped: ['spec.name.a'] })
  assert.deepEqual(pruned(JSON.parse('{"__proto__": 1, "constructor": 2}')), {
    value: {},
    dropped: ['spec.__proto__', 'spec.constructor'],
  })
})

test('the argument is not changed, and unchanged parts are shared', () => {
  const spec = { name: 'a', colour: 'red', parts: [{ id: 1 }] }
  const before = JSON.stringify(spec)
  const { value } = pruned(spec)
  assert.equal(JSON.stringify(spec), before)
  assert.equal((value as typeof spec).parts, spec.parts)
  const clean = { spec: { name: 'a' } }
  assert.equal(prune(schema, clean).value, clean)
})
