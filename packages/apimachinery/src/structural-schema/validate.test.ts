// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { renderFieldError } from '../field-error.ts'
import { compileSchema } from './compile.ts'
import type { JSONSchemaProps } from './json-schema-props.ts'
import { validate } from './validate.ts'

/** Returns the errors of a value at `spec.x`. */
function errors(x: JSONSchemaProps, value: unknown): string[] {
  const schema = compileSchema({
    type: 'object',
    properties: { spec: { type: 'object', properties: { x } } },
  })
  return validate(schema, { spec: { x: value } }).map(renderFieldError)
}

/** Returns the messages of the schema validator about `spec.x`, without their common prefix. */
function complaints(x: JSONSchemaProps, value: unknown): string[] {
  return errors(x, value).map(error => error.replace('spec.x: ', '').replace('spec.x in body ', ''))
}

describe('types', () => {
  test('every type accepts its values and reports the actual type of others', () => {
    const values: Record<string, unknown> = {
      string: 'a',
      integer: 1,
      number: 1.5,
      boolean: true,
      array: [],
      object: {},
    }
    for (const type of Object.keys(values)) {
      for (const [found, value] of Object.entries(values)) {
        const fits = type === found || (type === 'number' && found === 'integer')
        const text = `Invalid value: "${found}": must be of type ${type}: "${found}"`
        const beyondRange =
          '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.x'
        const expected = fits ? [] : type === 'integer' && found === 'number' ? [text, beyondRange] : [text]
        assert.deepEqual(complaints({ type }, value), expected, `${found} as ${type}`)
      }
    }
  })

  test('null has no type and is valid only with nullable', () => {
    assert.deepEqual(complaints({ type: 'array' }, null), [
      'Invalid value: "null": must be of type array: "null"',
    ])
    assert.deepEqual(complaints({ type: 'array', nullable: true }, null), [])
    assert.deepEqual(complaints({}, null), [])
  })

  test('int-or-string accepts both types and no other', () => {
    const schema: JSONSchemaProps = {
      'x-kubernetes-int-or-string': true,
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      pattern: '^\\d+%?$',
    }
    assert.deepEqual(errors(schema, 5), [])
    assert.deepEqual(errors(schema, '5%'), [])
    assert.deepEqual(complaints(schema, 'x'), [`Invalid value: "x": should match '^\\d+%?$'`])
    assert.deepEqual(errors(schema, true), [
      'spec.x: Invalid value: "boolean": spec.x in body must be of type integer,string: "boolean"',
      '<nil>: Invalid value: "": "spec.x" must validate at least one schema (anyOf)',
      'spec.x: Invalid value: "boolean": spec.x in body must be of type integer: "boolean"',
    ])
  })

  test('a wrong type has its own reason', () => {
    const [error] = validate(compileSchema({ type: 'object' }), [])
    assert.equal(error?.wrongType, true)
    assert.equal(
      renderFieldError(error!),
      '<nil>: Invalid value: "array":  in body must be of type object: "array"',
    )
  })
})

describe('strings', () => {
  test('length is counted in characters, and tooLong omits the value', () => {
    assert.deepEqual(complaints({ type: 'string', maxLength: 2 }, '😀😀'), [])
    assert.deepEqual(complaints({ type: 'string', maxLength: 2 }, 'abc'), [
      'Too long: may not be more than 2 bytes',
    ])
    assert.deepEqual(complaints({ type: 'string', minLength: 2 }, '😀'), [
      'Invalid value: "😀": should be at least 2 chars long',
    ])
  })

  test('only the first violation of a string is reported', () => {
    const schema: JSONSchemaProps = { type: 'string', maxLength: 2, minLength: 1, pattern: '^[a-z]+$' }
    assert.deepEqual(complaints(schema, 'ABC'), ['Too long: may not be more than 2 bytes'])
    assert.deepEqual(complaints(schema, ''), ['Invalid value: "": should be at least 1 chars long'])
    assert.deepEqual(complaints(schema, 'A'), [`Invalid value: "A": should match '^[a-z]+$'`])
  })

  test('an enum error lists the allowed values', () => {
    const schema: JSONSchemaProps = { type: 'string', enum: ['A', 'B'] }
    assert.deepEqual(complaints(schema, 'A'), [])
    assert.deepEqual(complaints(schema, 'C'), ['Unsupported value: "C": supported values: "A", "B"'])
    assert.deepEqual(complaints({ type: 'integer', enum: [1, 2] }, 3), [
      'Unsupported value: 3: supported values: "1", "2"',
    ])
    assert.deepEqual(complaints({ type: 'string', enum: ['A', null], nullable: true }, null), [
      'Unsupported value: null: supported values: "A", "null"',
    ])
  })

  test('a violated format is a wrong type', () => {
    assert.deepEqual(complaints({ type: 'string', format: 'date-time' }, 'noon'), [
      'Invalid value: "noon": must be of type date-time: "noon"',
    ])
    assert.deepEqual(complaints({ type: 'string', format: 'date-time' }, 5), [
      'Invalid value: "int64": must be of type date-time: "int64"',
    ])
    assert.deepEqual(complaints({ type: 'string', format: 'no-such-format' }, 'noon'), [])
  })
})

describe('numbers', () => {
  test('bounds are inclusive by default', () => {
    const cases: [JSONSchemaProps, number, string[]][] = [
      [{ minimum: 1 }, 1, []],
      [{ minimum: 1 }, 0, ['Invalid value: 0: should be greater than or equal to 1']],
      [{ minimum: 1, exclusiveMinimum: true }, 1, ['Invalid value: 1: should be greater than 1']],
      [{ maximum: 3 }, 4, ['Invalid value: 4: should be less than or equal to 3']],
      [{ maximum: 3, exclusiveMaximum: true }, 3, ['Invalid value: 3: should be less than 3']],
      [{ multipleOf: 2 }, 3, ['Invalid value: 3: should be a multiple of 2']],
    ]
    for (const [schema, value, expected] of cases) {
      assert.deepEqual(complaints({ type: 'integer', ...schema }, value), expected)
    }
    assert.deepEqual(complaints({ type: 'number', maximum: 0.5 }, 1.25), [
      'Invalid value: 1.25: should be less than or equal to 0.5',
    ])
  })

  test('int32 has 32 bits', () => {
    assert.deepEqual(errors({ type: 'integer', format: 'int32' }, 2147483647), [])
    assert.deepEqual(errors({ type: 'integer', format: 'int32' }, 2147483648), [
      '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.x',
    ])
    assert.deepEqual(errors({ type: 'integer', format: 'int64' }, 2147483648), [])
    assert.deepEqual(complaints({ type: 'integer', format: 'int32' }, true), [
      'Invalid value: "": must be of type int32: ""',
    ])
    assert.deepEqual(complaints({ type: 'integer', format: 'int32' }, 'x'), [
      'Invalid value: "string": must be of type integer: "string"',
    ])
  })
})

describe('objects and lists', () => {
  test('a missing required field is named', () => {
    const schema: JSONSchemaProps = { type: 'object', required: ['a', 'toString'], properties: { a: {} } }
    assert.deepEqual(errors(schema, {}), ['spec.x.a: Required value', 'spec.x.toString: Required value'])
    assert.deepEqual(errors(schema, { a: 1, toString: 2 }), [])
  })

  test('the numbers of items and members are limited', () => {
    const items: JSONSchemaProps = { type: 'array', minItems: 1, maxItems: 2, items: { type: 'integer' } }
    assert.deepEqual(complaints(items, []), ['Invalid value: 0: should have at least 1 items'])
    assert.deepEqual(complaints(items, [1, 2, 3]), ['Too many: 3: must have at most 2 items'])
    const members: JSONSchemaProps = { type: 'object', minProperties: 1, maxProperties: 1 }
    assert.deepEqual(complaints(members, {}), ['Invalid value: 0: should have at least 1 properties'])
    assert.deepEqual(complaints(members, { a: 1, b: 2 }), ['Too many: 2: must have at most 1 item'])
  })

  test('items and map values are reported with their path', () => {
    const inner: JSONSchemaProps = { type: 'integer' }
    assert.deepEqual(errors({ type: 'array', items: inner }, [1, 'a']), [
      'spec.x[1]: Invalid value: "string": spec.x[1] in body must be of type integer: "string"',
    ])
    assert.deepEqual(errors({ type: 'object', additionalProperties: inner }, { 'a.b/c': 'x' }), [
      'spec.x.a.b/c: Invalid value: "string": spec.x.a.b/c in body must be of type integer: "string"',
    ])
  })

  test('additionalProperties: false rejects undeclared members', () => {
    const schema: JSONSchemaProps = { type: 'object', properties: { a: {} }, additionalProperties: false }
    assert.deepEqual(errors(schema, { a: 1, b: 2 }), [
      'spec.x: Invalid value: "b": spec.x.b in body is a forbidden property',
    ])
  })

  test('unique items are compared by content', () => {
    const schema: JSONSchemaProps = { type: 'array', items: {}, uniqueItems: true }
    assert.deepEqual(
      complaints(schema, [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]),
      [`Invalid value: "": shouldn't contain duplicates`],
    )
    assert.deepEqual(complaints(schema, [1, '1']), [])
  })
})

describe('combinations', () => {
  const either = [{ required: ['a'] }, { required: ['b'], minProperties: 2 }]

  test('anyOf reports the alternative with the most passed checks', () => {
    assert.deepEqual(errors({ type: 'string', anyOf: [{ minLength: 3 }, { enum: ['x'] }] }, 'a'), [
      '<nil>: Invalid value: "": "spec.x" must validate at least one schema (anyOf)',
      'spec.x: Invalid value: "a": spec.x in body should be at least 3 chars long',
    ])
    assert.deepEqual(errors({ type: 'object', anyOf: either }, { a: 1 }), [])
  })

  test('oneOf requires exactly one match', () => {
    const one: JSONSchemaProps = { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] }
    assert.deepEqual(errors(one, { a: 1 }), [])
    assert.deepEqual(errors(one, { a: 1, b: 1 }), [
      '<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ])
    assert.deepEqual(errors(one, {}), [
      '<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found none valid',
      'spec.x.a: Required value',
    ])
  })

  test('allOf requires all, not requires none', () => {
    const all: JSONSchemaProps = { type: 'integer', allOf: [{ minimum: 2 }, { maximum: 5 }] }
    assert.deepEqual(errors(all, 1), [
      'spec.x: Invalid value: 1: spec.x in body should be greater than or equal to 2',
      '<nil>: Invalid value: "": "spec.x" must validate all the schemas (allOf)',
    ])
    assert.deepEqual(errors({ type: 'integer', not: { minimum: 2 } }, 3), [
      '<nil>: Invalid value: "": "spec.x" must not validate the schema (not)',
    ])
  })
})

describe('lists of type map and set', () => {
  const keyed = (...keys: string[]): JSONSchemaProps => ({
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
    items: { type: 'object', properties: { name: {}, port: {} } },
  })

  test('only the second item with a key is a duplicate', () => {
    assert.deepEqual(errors(keyed('name'), [{ name: 'a' }, { name: 'b' }, { name: 'a' }, { name: 'a' }]), [
      'spec.x[2]: Duplicate value: {"name":"a"}',
    ])
    assert.deepEqual(
      errors(keyed('port', 'name'), [
        { name: 'a', port: 1 },
        { port: 1, name: 'a' },
      ]),
      ['spec.x[1]: Duplicate value: {"name":"a","port":1}'],
    )
    assert.deepEqual(errors(keyed('name'), [{}, {}]), ['spec.x[1]: Duplicate value: {}'])
    assert.deepEqual(errors(keyed('name'), [{ name: 1 }, { name: '1' }]), [])
  })

  test('a list of type map contains objects', () => {
    assert.ok(
      errors(keyed('name'), ['a']).includes(
        'spec.x[0]: Invalid value: "a": must be an object for an array of list-type map',
      ),
    )
  })

  test('a set contains each value once', () => {
    const set: JSONSchemaProps = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } }
    assert.deepEqual(errors(set, ['a', 'b', 'a']), ['spec.x[2]: Duplicate value: "a"'])
  })

  test('map keys are in brackets in the path', () => {
    assert.deepEqual(errors({ type: 'object', additionalProperties: keyed('name') }, { k: [{}, {}] }), [
      'spec.x[k][1]: Duplicate value: {}',
    ])
  })
})

describe('embedded resources', () => {
  const schema: JSONSchemaProps = { type: 'object', 'x-kubernetes-embedded-resource': true }

  test('have an apiVersion, a kind and valid metadata', () => {
    assert.deepEqual(errors(schema, { apiVersion: 'v1', kind: 'Pod', metadata: {} }), [])
    assert.deepEqual(errors(schema, {}), ['spec.x.apiVersion: Required value', 'spec.x.kind: Required value'])
    assert.deepEqual(errors(schema, { apiVersion: 'a/b/c', kind: '', metadata: { name: 'a/b' } }), [
      'spec.x.kind: Invalid value: "": must not be empty',
      'spec.x.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      `spec.x.metadata.name: Invalid value: "a/b": may not contain '/'`,
    ])
  })
})
