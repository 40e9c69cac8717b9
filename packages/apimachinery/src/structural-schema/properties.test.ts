// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { renderFieldError } from '../field-error.ts'
import { equalJson } from '../json-value.ts'
import { compileSchema } from './compile.ts'
import { applyDefaults } from './defaults.ts'
import type { JSONSchemaProps } from './json-schema-props.ts'
import { prune } from './prune.ts'
import { validate } from './validate.ts'

const names = ['a', 'b', 'name', '__proto__', 'constructor']
const name = fc.constantFrom(...names)
const object = <T>(value: fc.Arbitrary<T>) => fc.dictionary(name, value, { maxKeys: 4 })

/** JSON whose names often occur in the schemas. */
const json = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    fc.constantFrom<unknown>(null, true, 0, 1, -1, 1.5, 2 ** 40, '', 'a', 'abc', '2024-01-01T00:00:00Z'),
    fc.array(tie('value'), { maxLength: 4 }),
    object(tie('value')),
  ),
})).value

const schemas: fc.Arbitrary<JSONSchemaProps> = fc.letrec<{ node: JSONSchemaProps }>(tie => ({
  node: fc.oneof(
    { depthSize: 'medium' },
    fc.record<JSONSchemaProps>(
      {
        type: fc.constant('string'),
        maxLength: fc.nat(3),
        pattern: fc.constant('^a'),
        nullable: fc.boolean(),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record<JSONSchemaProps>(
      {
        type: fc.constant('string'),
        format: fc.constantFrom('date-time', 'int32'),
        default: fc.constant('a'),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record<JSONSchemaProps>(
      { type: fc.constant('integer'), minimum: fc.nat(2), default: fc.nat(3), format: fc.constant('int32') },
      { requiredKeys: ['type'] },
    ),
    fc.record<JSONSchemaProps>(
      {
        type: fc.constant('object'),
        properties: object(tie('node')),
        required: fc.uniqueArray(name, { maxLength: 2 }),
        default: fc.constant({}),
        'x-kubernetes-preserve-unknown-fields': fc.boolean(),
        anyOf: fc.constant([{ required: ['a'] }, { required: ['b'] }]),
        'x-kubernetes-validations': fc.constant([
          { rule: 'has(self.a) && self.a > 1' },
          { rule: 'self == oldSelf' },
          { rule: '!oldSelf.hasValue() || oldSelf.value() == self', optionalOldSelf: true },
        ]),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record<JSONSchemaProps>({ type: fc.constant('object'), additionalProperties: tie('node') }),
    fc.record<JSONSchemaProps>(
      {
        type: fc.constant('array'),
        items: tie('node'),
        'x-kubernetes-list-type': fc.constantFrom('map', 'set', 'atomic'),
        'x-kubernetes-list-map-keys': fc.constant(['name']),
        maxItems: fc.nat(3),
      },
      { requiredKeys: ['type', 'items'] },
    ),
  ),
})).node

test('pruning is idempotent', () => {
  fc.assert(
    fc.property(schemas, json, (source, value) => {
      const schema = compileSchema(source)
      const once = prune(schema, value)
      const twice = prune(schema, once.value)
      assert.deepEqual(twice.dropped, [])
      assert.equal(twice.value, once.value)
    }),
  )
})

test('defaulting is idempotent', () => {
  fc.assert(
    fc.property(schemas, json, (source, value) => {
      const schema = compileSchema(source)
      const once = applyDefaults(schema, value)
      assert.ok(equalJson(applyDefaults(schema, once), once))
    }),
  )
})

test('pruning and defaulting do not change the argument', () => {
  fc.assert(
    fc.property(schemas, json, (source, value) => {
      const schema = compileSchema(source)
      const before = JSON.stringify(value)
      applyDefaults(schema, prune(schema, value).value)
      assert.equal(JSON.stringify(value), before)
    }),
  )
})

test('validation never throws, for any value and schema, on create and on update', () => {
  fc.assert(
    fc.property(schemas, json, json, (source, value, old) => {
      const schema = compileSchema(source)
      for (const error of [...validate(schema, value), ...validate(schema, value, old)]) {
        assert.equal(typeof renderFieldError(error), 'string')
      }
    }),
  )
})

test('an update without changes is accepted, whatever is stored', () => {
  fc.assert(
    fc.property(schemas, json, (source, value) => {
      // Two exceptions of the API server: preserved unknown fields and items without their keys count as
      // changed.
      fc.pre(!/preserve-unknown-fields":true|"map"|validations/.test(JSON.stringify(source)))
      const schema = compileSchema({ type: 'object', properties: { spec: source } })
      const stored = prune(schema, { spec: value }).value
      assert.deepEqual(validate(schema, structuredClone(stored), stored), [])
    }),
  )
})

test('deep values do not overflow the stack and are rejected as a whole', () => {
  const schema = compileSchema({
    type: 'object',
    properties: { a: { type: 'string', enum: ['x'] }, b: { 'x-kubernetes-preserve-unknown-fields': true } },
  })
  for (const wrap of [(value: unknown) => [value], (value: unknown) => ({ b: value })]) {
    let deep: unknown = 1
    for (let level = 0; level < 100_000; level++) deep = wrap(deep)
    for (const value of [deep, { a: deep }, { b: deep }]) {
      const object = applyDefaults(schema, prune(schema, value).value)
      for (const error of validate(schema, object, deep)) renderFieldError(error)
    }
    assert.deepEqual(validate(schema, { b: deep }).map(renderFieldError), [
      '<nil>: Invalid value: the object is nested deeper than 1000 levels',
    ])
  }
})
