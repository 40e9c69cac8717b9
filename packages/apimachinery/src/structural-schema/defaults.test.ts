// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileSchema } from './compile.ts'
import { applyDefaults } from './defaults.ts'
import type { JSONSchemaProps } from './json-schema-props.ts'

function defaulted(schema: JSONSchemaProps, value: unknown): unknown {
  return applyDefaults(compileSchema(schema), value)
}

const replicas: JSONSchemaProps = {
  type: 'object',
  properties: { replicas: { type: 'integer', default: 1 } },
}

test('an absent property gets its default, a present one keeps its value', () => {
  assert.deepEqual(defaulted(replicas, {}), { replicas: 1 })
  assert.deepEqual(defaulted(replicas, { replicas: 0 }), { replicas: 0 })
  assert.deepEqual(defaulted(replicas, { replicas: 'wrong' }), { replicas: 'wrong' })
})

test('defaults inside an absent object do not create it', () => {
  assert.deepEqual(defaulted({ type: 'object', properties: { scale: replicas } }, {}), {})
  assert.deepEqual(defaulted({ type: 'object', properties: { scale: replicas } }, { scale: {} }), {
    scale: { replicas: 1 },
  })
})

test('a default object gets the defaults of its members', () => {
  assert.deepEqual(defaulted({ type: 'object', properties: { scale: { ...replicas, default: {} } } }, {}), {
    scale: { replicas: 1 },
  })
})

test('items of lists and values of maps are defaulted', () => {
  assert.deepEqual(defaulted({ type: 'array', items: replicas }, [{}, { replicas: 2 }]), [
    { replicas: 1 },
    { replicas: 2 },
  ])
  assert.deepEqual(defaulted({ type: 'object', additionalProperties: replicas }, { a: {} }), {
    a: { replicas: 1 },
  })
})

test('a null that is not allowed is replaced by the default, or dropped', () => {
  const schema: JSONSchemaProps = {
    type: 'object',
    properties: {
      withDefault: { type: 'string', default: 'x' },
      without: { type: 'string' },
      allowed: { type: 'string', nullable: true, default: 'x' },
    },
  }
  assert.deepEqual(defaulted(schema, { withDefault: null, without: null, allowed: null }), {
    withDefault: 'x',
    allowed: null,
  })
  assert.deepEqual(defaulted({ type: 'object', additionalProperties: { type: 'string' } }, { a: null }), {})
})

test('a null item stays, because dropping it would move other items', () => {
  assert.deepEqual(defaulted({ type: 'array', items: { type: 'string' } }, [null, 'a']), [null, 'a'])
  assert.deepEqual(defaulted({ type: 'array', items: { type: 'string', default: 'x' } }, [null]), ['x'])
})

test('defaults are copied, so changing a result does not change the next', () => {
  const schema = compileSchema({
    type: 'object',
    properties: { list: { type: 'array', items: { type: 'string' }, default: ['a'] } },
  })
  const first = applyDefaults(schema, {}) as { list: string[] }
  first.list.push('b')
  assert.deepEqual(applyDefaults(schema, {}), { list: ['a'] })
})

test('properties named like inherited members get their defaults too', () => {
  const schema: JSONSchemaProps = {
    type: 'object',
    properties: JSON.parse('{"toString": {"default": 1}, "__proto__": {"default": 2}}'),
  }
  assert.equal(JSON.stringify(defaulted(schema, {})), '{"toString":1,"__proto__":2}')
})
