// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderFieldError } from '../field-error.ts'
import type { JSONSchemaProps } from '../structural-schema/json-schema-props.ts'
import { holds, sampleSchema, validateSpec, withRule, withRuleAt } from './testing/sample-schema.ts'

test('a rule is not evaluated on null or below a missing value', () => {
  const schema = withRuleAt('name', 'false')
  const nullable = {
    ...schema,
    properties: { ...schema.properties, name: { ...schema.properties!.name, nullable: true } },
  }
  assert.deepEqual(validateSpec(nullable, { name: null }), [])
  assert.deepEqual(validateSpec(schema, {}), [])
})

test('a transition rule is evaluated only on update', () => {
  assert.ok(holds('self == oldSelf', { size: 1 }))
  assert.ok(holds('self == oldSelf', { size: 1 }, { size: 1 }))
  assert.ok(!holds('self.size >= oldSelf.size', { size: 1 }, { size: 2 }))
})

test('a transition rule of an item is evaluated only if a stored item has the same key', () => {
  const grows = withRuleAt('trays', 'self.load >= oldSelf.load')
  const old = { trays: [{ name: 'a', load: 5 }] }
  assert.deepEqual(
    validateSpec(
      grows,
      {
        trays: [
          { name: 'b', load: 1 },
          { name: 'a', load: 6 },
        ],
      },
      old,
    ),
    [],
  )
  assert.deepEqual(
    validateSpec(
      grows,
      {
        trays: [
          { name: 'b', load: 1 },
          { name: 'a', load: 4 },
        ],
      },
      old,
    ).map(error => error.field),
    ['spec.trays[1]'],
  )
  assert.deepEqual(
    validateSpec(
      withRuleAt('shelves', 'self.load >= oldSelf.load'),
      { shelves: [{ load: 1 }] },
      { shelves: [{ load: 5 }] },
    ),
    [],
  )
})

test('an optional oldSelf is also present on create, without a value', () => {
  const rule = { rule: '!oldSelf.hasValue() || self.size >= oldSelf.value().size', optionalOldSelf: true }
  assert.ok(holds(rule, { size: 1 }))
  assert.ok(!holds(rule, { size: 1 }, { size: 2 }))
  const createOnly = { rule: 'oldSelf.hasValue() || !has(self.size)', optionalOldSelf: true }
  assert.ok(!holds(createOnly, { size: 1 }))
  assert.ok(holds(createOnly, { size: 1 }, { size: 1 }))
  assert.ok(holds({ rule: 'oldSelf.?size.orValue(0) <= self.size', optionalOldSelf: true }, { size: 1 }))
})

test('an existing violation of an unchanged value is tolerated, except by transition rules', () => {
  assert.ok(!holds('self.size > 1', { size: 1 }))
  assert.ok(holds('self.size > 1', { size: 1 }, { size: 1 }))
  assert.ok(!holds('self.size > 1', { size: 1, name: 'new' }, { size: 1 }))
  assert.ok(!holds('self.size > oldSelf.size', { size: 1 }, { size: 1 }))
  const loads = withRuleAt('shelves', 'self.load > 1')
  assert.deepEqual(
    validateSpec(loads, { size: 2, shelves: [{ load: 1 }] }, { size: 1, shelves: [{ load: 1 }] }),
    [],
  )
  assert.equal(
    validateSpec(loads, { shelves: [{ load: 1 }, { load: 2 }] }, { shelves: [{ load: 1 }] }).length,
    1,
  )
})

test('reordering a list of type set or map is not a change', () => {
  assert.ok(holds('self == oldSelf', { tags: ['a', 'b'] }, { tags: ['b', 'a'] }))
  assert.ok(!holds('self == oldSelf', { tags: ['a', 'b'] }, { tags: ['b', 'c'] }))
  const trays = [
    { name: 'a', load: 1 },
    { name: 'b', load: 2 },
  ]
  assert.ok(holds('self.trays == oldSelf.trays', { trays }, { trays: trays.toReversed() }))
  assert.ok(!holds('self.trays == oldSelf.trays', { trays }, { trays: [trays[0]] }))
})

test('a rule inside allOf applies to the same value', () => {
  const schema: JSONSchemaProps = {
    ...sampleSchema,
    allOf: [withRule({}, { rule: 'self.size > 1', message: 'm' })],
  }
  assert.deepEqual(validateSpec(schema, { size: 1 }).map(renderFieldError), ['spec: Invalid value: m'])
})
