// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  describeFieldError,
  type FieldError,
  fieldError,
  fieldErrorReason,
  formatGoFloat,
  renderFieldError,
  renderFieldErrors,
} from './field-error.ts'

test('an error is formatted as field, type, value and detail', () => {
  const cases: [FieldError, string][] = [
    [fieldError.required('spec.a'), 'spec.a: Required value'],
    [fieldError.required('spec.a', 'say it'), 'spec.a: Required value: say it'],
    [fieldError.invalid('spec.a', 'x"y', 'is odd'), 'spec.a: Invalid value: "x\\"y": is odd'],
    [fieldError.invalid('spec.a', 3, 'is odd'), 'spec.a: Invalid value: 3: is odd'],
    [fieldError.invalid('spec.a', 1234567.5, 'is odd'), 'spec.a: Invalid value: 1.2345675e+06: is odd'],
    [fieldError.invalid('<nil>', null, 'is odd'), '<nil>: Invalid value: null: is odd'],
    [
      fieldError.duplicate('spec.a[1]', { name: '<a>' }),
      'spec.a[1]: Duplicate value: {"name":"\\u003ca\\u003e"}',
    ],
    [fieldError.unsupported('a', 'C', ['A', 'B']), 'a: Unsupported value: "C": supported values: "A", "B"'],
    [fieldError.forbidden('a', 'no'), 'a: Forbidden: no'],
    [fieldError.tooLong('a', 63), 'a: Too long: may not be more than 63 bytes'],
    [fieldError.tooLong('a', 1), 'a: Too long: may not be more than 1 byte'],
    [fieldError.tooMany('a', 5, 3), 'a: Too many: 5: must have at most 3 items'],
    [{ kind: 'Invalid value', field: 'a', detail: 'no', valueOmitted: true }, 'a: Invalid value: no'],
    [{ kind: 'Duplicate value', field: 'a', detail: '', valueOmitted: true }, 'a: Duplicate value'],
  ]
  for (const [error, text] of cases) assert.equal(renderFieldError(error), text)
})

test('a wrong type is formatted like an invalid value but has its own reason', () => {
  const error = fieldError.wrongType('a', 'string', 'must be a number')
  assert.equal(describeFieldError(error), 'Invalid value: "string": must be a number')
  assert.equal(fieldErrorReason(error), 'FieldValueTypeInvalid')
  assert.equal(fieldErrorReason(fieldError.invalid('a', 1, '')), 'FieldValueInvalid')
  assert.equal(fieldErrorReason(fieldError.unsupported('a', 1, [])), 'FieldValueNotSupported')
})

test('several errors are formatted in brackets and without duplicates', () => {
  const a = fieldError.required('a')
  const b = fieldError.required('b')
  assert.equal(renderFieldErrors([a]), 'a: Required value')
  assert.equal(renderFieldErrors([a, b, a]), '[a: Required value, b: Required value]')
})

test('floating-point numbers are formatted like in Go', () => {
  const cases: [number, string][] = [
    [1.5, '1.5'],
    [100000, '100000'],
    [1000000, '1e+06'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [-1e21, '-1e+21'],
    [0, '0'],
  ]
  for (const [value, text] of cases) assert.equal(formatGoFloat(value), text)
})
