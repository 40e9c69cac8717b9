// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { renderFieldError } from '../field-error.ts'
import { compileSchema } from '../structural-schema/compile.ts'
import type { ValidationRule } from '../structural-schema/json-schema-props.ts'
import { validate } from '../structural-schema/validate.ts'
import { errors, holds, validateSpec, withRuleAt } from './testing/sample-schema.ts'

describe('the variable self', () => {
  test('has integers, numbers, strings, timestamps and durations according to the schema', () => {
    assert.ok(holds('self.size == 3 && self.size / 2 == 1', { size: 3 }))
    assert.ok(holds('self.heat == 3.0 && self.heat / 2.0 == 1.5', { heat: 3 }))
    assert.ok(holds('self.since < timestamp("2024-06-01T00:00:00Z")', { since: '2024-01-01T00:00:00Z' }))
    assert.ok(holds('self.pause > duration("1m")', { pause: '1h30m' }))
    assert.ok(holds('type(self.limit) == string ? self.limit == "5%" : self.limit == 5', { limit: '5%' }))
    assert.ok(holds('type(self.limit) == string ? self.limit == "5%" : self.limit == 5', { limit: 5 }))
  })

  test('has the presence of fields, items and map keys', () => {
    assert.ok(holds('!has(self.door) && !has(self.size)', {}))
    assert.ok(holds('has(self.door) && !has(self.door.width)', { door: {} }))
    assert.ok(holds('self.trays.all(t, has(t.load) && t.load > 0)', { trays: [{ name: 'a', load: 1 }] }))
    assert.ok(!holds('self.trays.all(t, has(t.load) && t.load > 0)', { trays: [{ name: 'a' }] }))
    assert.ok(holds('"a" in self.notes && self.notes["a"] == "b"', { notes: { a: 'b' } }))
    assert.ok(holds('self.notes.all(k, k.startsWith("a"))', { notes: { a: 'b' } }))
  })

  test('has escaped names for reserved identifiers', () => {
    assert.ok(holds('self.__namespace__ == "x"', { namespace: 'x' }))
  })

  test('has the name of the object, and no other metadata', () => {
    const named = (rule: string) =>
      validate(
        compileSchema({
          type: 'object',
          properties: { metadata: { type: 'object' }, spec: { type: 'object' } },
          'x-kubernetes-validations': [{ rule }],
        }),
        { apiVersion: 'v1', kind: 'K', metadata: { name: 'a', labels: { b: 'c' } } },
      ).map(renderFieldError)
    assert.deepEqual(named('self.metadata.name == "a" && self.kind == "K" && self.apiVersion == "v1"'), [])
    assert.deepEqual(named('has(self.metadata.labels)').length, 1)
  })
})

describe('a violation', () => {
  test('has the message, or else the rule', () => {
    assert.deepEqual(errors({ rule: 'self.size > 1', message: ' too small ' }, { size: 1 }), [
      'spec: Invalid value: too small',
    ])
    assert.deepEqual(errors(' self.size > 1 ', { size: 1 }), [
      'spec: Invalid value: failed rule: self.size > 1',
    ])
  })

  test('has the value if it is a scalar', () => {
    assert.deepEqual(
      validateSpec(withRuleAt('size', { rule: 'self > 1', message: 'too small' }), { size: 1 }).map(
        renderFieldError,
      ),
      ['spec.size: Invalid value: 1: too small'],
    )
  })

  test('has its reason and field path', () => {
    const rule = { rule: 'self.size > 1', message: 'too small' }
    const cases: [Partial<ValidationRule>, string][] = [
      [
        { reason: 'FieldValueRequired', fieldPath: '.door.width' },
        'spec.door.width: Required value: too small',
      ],
      [{ reason: 'FieldValueForbidden', fieldPath: '.size' }, 'spec.size: Forbidden: too small'],
      [{ reason: 'FieldValueInvalid' }, 'spec: Invalid value: too small'],
      [{ reason: 'FieldValueDuplicate' }, 'spec: Duplicate value'],
      [{ fieldPath: ".notes['a.b']" }, 'spec.notes[a.b]: Invalid value: too small'],
      [{ fieldPath: '.notes.key' }, 'spec.notes[key]: Invalid value: too small'],
    ]
    for (const [extra, text] of cases) assert.deepEqual(errors({ ...rule, ...extra }, { size: 1 }), [text])
  })

  test('has the result of messageExpression, unless it is not usable', () => {
    const rule = { rule: 'self.size > 1', message: 'fixed' }
    const cases: [string, string][] = [
      ['"size is " + string(self.size)', 'size is 1'],
      ['"%s has size %d".format(["it", self.size])', 'it has size 1'],
      ['self.name', 'fixed'],
      ['"a\\nb"', 'fixed'],
      ['"  "', 'fixed'],
    ]
    for (const [messageExpression, text] of cases) {
      assert.deepEqual(errors({ ...rule, messageExpression }, { size: 1 }), [`spec: Invalid value: ${text}`])
    }
  })

  test('has the path of the item in lists and maps', () => {
    const trays = {
      trays: [
        { name: 'a', load: 1 },
        { name: 'b', load: 9 },
      ],
    }
    assert.deepEqual(
      validateSpec(
        withRuleAt('trays', { rule: 'self.load < 5', message: 'm', fieldPath: '.load' }),
        trays,
      ).map(renderFieldError),
      ['spec.trays[1].load: Invalid value: m'],
    )
    assert.deepEqual(
      validateSpec(withRuleAt('notes', { rule: 'self != "x"', message: 'm' }), { notes: { k: 'x' } }).map(
        renderFieldError,
      ),
      ['spec.notes[k]: Invalid value: "x": m'],
    )
  })

  test('a rule that fails to evaluate is reported with the reason', () => {
    const cases: [string, unknown, string][] = [
      ['self.size > 1', {}, 'no such key: size evaluating rule: self.size > 1'],
      ['1 / self.size == 1', { size: 0 }, 'division by zero evaluating rule: 1 / self.size == 1'],
      ['1 % self.size == 1', { size: 0 }, 'modulus by zero evaluating rule: 1 % self.size == 1'],
      [
        'self.shelves[1].load == 1',
        { shelves: [] },
        'index out of bounds: 1 evaluating rule: self.shelves[1].load == 1',
      ],
      [
        'int(self.name) == 1',
        { name: 'x' },
        "type conversion error from 'string' to 'int' evaluating rule: int(self.name) == 1",
      ],
      ['has(self.door.width)', {}, 'no such key: door evaluating rule: has(self.door.width)'],
      [
        'self.limit > 5',
        { limit: 'x' },
        "'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.limit > 5",
      ],
    ]
    for (const [rule, value, text] of cases) {
      assert.deepEqual(errors(rule, value), [`spec: Invalid value: "object": ${text}`])
    }
  })

  test('a rule that does not compile is reported and does not pass', () => {
    const cases: [string | ValidationRule, RegExp][] = [
      ['self.size >', /rule compile error: /],
      ['self.frobnicate(1)', /rule compile error: .*frobnicate/],
      ['unknown > 1', /rule compile error: .*unknown/i],
      ['"text"', /rule compile error: cel expression must evaluate to a bool/],
      [
        { rule: 'true', fieldPath: '.nowhere' },
        /rule compile error: fieldPath .nowhere does not refer to a valid field/,
      ],
      [
        { rule: 'true', messageExpression: '1' },
        /rule compile error: messageExpression: cel expression must evaluate to a string/,
      ],
    ]
    for (const [rule, text] of cases) assert.match(errors(rule, {})[0] ?? '', text)
  })
})
