// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cloneJson, equalJson, MAX_JSON_DEPTH, nestedDeeperThan, setOwn, sortKeys } from './json-value.ts'

/** `[[[…]]]` */
function nested(depth: number): unknown {
  let value: unknown = []
  for (let level = 1; level < depth; level++) value = [value]
  return value
}

test('a member named __proto__ is an ordinary member', () => {
  const object = JSON.parse('{"__proto__": {"a": 1}, "b": 2}')
  const copy = cloneJson(object)
  assert.equal(JSON.stringify(copy), JSON.stringify(object))
  assert.equal(Object.getPrototypeOf(copy), Object.prototype)
  assert.equal(JSON.stringify(sortKeys(object)), JSON.stringify(object))
  assert.ok(equalJson(copy, object))
  assert.ok(!equalJson(object, { b: 2 }))
  const target = {}
  setOwn(target, '__proto__', 1)
  assert.ok(Object.hasOwn(target, '__proto__'))
})

test('absent and null differ, and the order of keys does not matter', () => {
  assert.ok(!equalJson({ a: null }, {}))
  assert.ok(equalJson({ a: 1, b: [2] }, { b: [2], a: 1 }))
  assert.ok(!equalJson([1, 2], [2, 1]))
  assert.ok(!equalJson({}, []))
})

test('nestedDeeperThan is true only beyond the limit', () => {
  assert.ok(!nestedDeeperThan('text', 0))
  assert.ok(!nestedDeeperThan(nested(5), 5))
  assert.ok(nestedDeeperThan(nested(6), 5))
  assert.ok(nestedDeeperThan({ a: nested(5) }, 5))
})

test('deep values do not overflow the stack', () => {
  const deep = nested(200_000)
  assert.ok(nestedDeeperThan(deep, MAX_JSON_DEPTH))
  assert.ok(!equalJson(deep, nested(200_000)))
  assert.doesNotThrow(() => cloneJson(deep))
  assert.doesNotThrow(() => sortKeys(deep))
})

test('a clone is equal and shares nothing', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      const copy = cloneJson(value)
      assert.ok(equalJson(copy, value))
      assert.ok(typeof value !== 'object' || value === null || copy !== value)
    }),
  )
})
