// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderFieldError } from '../field-error.ts'
import { compileSchema } from './compile.ts'
import type { JSONSchemaProps } from './json-schema-props.ts'
import { validate } from './validate.ts'

function onUpdate(x: JSONSchemaProps, value: unknown, old: unknown): string[] {
  const schema = compileSchema({ type: 'object', properties: { x } })
  return validate(schema, { x: value }, { x: old }).map(renderFieldError)
}

const short: JSONSchemaProps = { type: 'string', maxLength: 2 }
const named: JSONSchemaProps = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: { type: 'object', properties: { name: { type: 'string' }, note: short } },
}

test('an invalid value that is unchanged is tolerated', () => {
  assert.deepEqual(onUpdate(short, 'abc', 'abc'), [])
  assert.deepEqual(onUpdate(short, 'abd', 'abc'), ['x: Too long: may not be more than 2 bytes'])
})

test('an unchanged part stays tolerated when another part changes', () => {
  const schema: JSONSchemaProps = { type: 'object', properties: { a: short, b: short } }
  assert.deepEqual(onUpdate(schema, { a: 'abc', b: 'new' }, { a: 'abc', b: 'b' }), [
    'x.b: Too long: may not be more than 2 bytes',
  ])
})

test('items of a list of type map correlate by key, independent of their position', () => {
  const old = [{ name: 'a', note: 'long' }, { name: 'b' }]
  assert.deepEqual(onUpdate(named, [{ name: 'b' }, { name: 'a', note: 'long' }, { name: 'c' }], old), [])
  assert.deepEqual(onUpdate(named, [{ name: 'c', note: 'long' }], old), [
    'x[0].note: Too long: may not be more than 2 bytes',
  ])
})

test('items of other lists do not correlate unless the whole list is unchanged', () => {
  const list: JSONSchemaProps = { type: 'array', items: short }
  assert.deepEqual(onUpdate(list, ['abc'], ['abc']), [])
  assert.deepEqual(onUpdate(list, ['abc', 'b'], ['abc']), ['x[0]: Too long: may not be more than 2 bytes'])
})

test('a newly required field is reported only if its object changed', () => {
  const schema: JSONSchemaProps = {
    type: 'object',
    required: ['a'],
    properties: { a: {}, b: { type: 'integer' } },
  }
  assert.deepEqual(onUpdate(schema, { b: 1 }, { b: 1 }), [])
  assert.deepEqual(onUpdate(schema, { b: 2 }, { b: 1 }), ['x.a: Required value'])
})

test('stored duplicates do not block later updates', () => {
  const twice = [{ name: 'a' }, { name: 'a' }]
  assert.deepEqual(onUpdate(named, [...twice, { name: 'b' }], twice), [])
  assert.deepEqual(onUpdate(named, twice, [{ name: 'a' }]), ['x[1]: Duplicate value: {"name":"a"}'])
})

test('apiVersion and kind are always validated', () => {
  const schema = compileSchema({ type: 'object', properties: { kind: { type: 'string', maxLength: 1 } } })
  assert.equal(validate(schema, { kind: 'KK', a: 1 }, { kind: 'KK' }).length, 1)
})
