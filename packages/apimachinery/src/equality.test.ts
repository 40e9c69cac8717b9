// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Comparator, semanticallyEqual } from './equality.ts'
import { equalQuantities, QuantityError, readQuantity } from './quantity.ts'

test('absent, null, an empty list and an empty object are equal', () => {
  const nothings = [undefined, null, [], {}]
  for (const a of nothings) {
    for (const b of nothings) assert.ok(semanticallyEqual({ x: a }, { x: b }))
    assert.ok(semanticallyEqual({ x: a }, {}))
    assert.ok(!semanticallyEqual({ x: a }, { x: 0 }))
    assert.ok(!semanticallyEqual({ x: a }, { x: '' }))
    assert.ok(!semanticallyEqual({ x: a }, { x: false }))
  }
})

test('the order of members does not matter, the order of lists does', () => {
  assert.ok(semanticallyEqual({ a: 1, b: { c: [] } }, { b: {}, a: 1 }))
  assert.ok(!semanticallyEqual([1, 2], [2, 1]))
  assert.ok(!semanticallyEqual({ a: 1 }, { a: 1, b: 2 }))
})

test('an inherited property is not a member', () => {
  assert.ok(!semanticallyEqual({ constructor: 'x' }, {}))
  assert.ok(semanticallyEqual({ toString: null }, {}))
})

test('a comparator can compare strings as quantities', () => {
  const byAmount: Comparator = (left, right, path) => {
    if (path.at(-2) !== 'limits') return undefined
    const [a, b] = [readQuantity(left), readQuantity(right)]
    return a instanceof QuantityError || b instanceof QuantityError ? undefined : equalQuantities(a, b)
  }
  const one = { limits: { cpu: '1000m' }, note: '1000m' }
  assert.ok(semanticallyEqual(one, { limits: { cpu: 1 }, note: '1000m' }, byAmount))
  assert.ok(!semanticallyEqual(one, { limits: { cpu: '2' }, note: '1000m' }, byAmount))
  assert.ok(!semanticallyEqual(one, { limits: { cpu: '1' }, note: '1' }, byAmount))
})

test('a comparator can distinguish an empty object from an absent one', () => {
  const presence: Comparator = (left, right, path) =>
    path.at(-1) === 'emptyDir' ? (left === undefined) === (right === undefined) : undefined
  assert.ok(!semanticallyEqual({ emptyDir: {} }, { name: undefined }, presence))
  assert.ok(semanticallyEqual({ emptyDir: {} }, { emptyDir: {} }, presence))
})

test('equality is reflexive and symmetric', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      assert.ok(semanticallyEqual(a, structuredClone(a)))
      assert.equal(semanticallyEqual(a, b), semanticallyEqual(b, a))
    }),
  )
})

test('deep values do not overflow the stack', () => {
  const deep = () => {
    let value: unknown = 1
    for (let level = 0; level < 100_000; level++) value = { a: value }
    return value
  }
  assert.ok(!semanticallyEqual(deep(), deep()))
})
