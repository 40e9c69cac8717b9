// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { applyJsonPatch, type JsonPatchOperation } from './json-patch.ts'
import { createJsonPatch } from './testing/json-patch-diff.ts'

function patched(value: unknown, ...patch: JsonPatchOperation[]): unknown {
  const result = applyJsonPatch(value, patch)
  assert.ok(result.ok, result.ok ? '' : result.error)
  return result.value
}

function errorOf(value: unknown, patch: unknown): string {
  const result = applyJsonPatch(value, patch)
  assert.ok(!result.ok)
  return result.error
}

test('operations change members and items', () => {
  assert.deepEqual(patched({ a: 1 }, { op: 'add', path: '/b', value: 2 }), { a: 1, b: 2 })
  assert.deepEqual(patched({ a: 1 }, { op: 'add', path: '/a', value: 2 }), { a: 2 })
  assert.deepEqual(patched({ a: [1, 3] }, { op: 'add', path: '/a/1', value: 2 }), { a: [1, 2, 3] })
  assert.deepEqual(patched({ a: [1] }, { op: 'add', path: '/a/-', value: 2 }), { a: [1, 2] })
  assert.deepEqual(patched({ a: 1 }, { op: 'remove', path: '/a' }), {})
  assert.deepEqual(patched([1, 2], { op: 'remove', path: '/0' }), [2])
  assert.deepEqual(patched({ a: [1] }, { op: 'replace', path: '/a/0', value: 2 }), { a: [2] })
  assert.deepEqual(patched({}, { op: 'replace', path: '/a', value: 2 }), { a: 2 })
  assert.deepEqual(patched({ a: 1 }, { op: 'move', from: '/a', path: '/b' }), { b: 1 })
  assert.deepEqual(patched({ a: 1 }, { op: 'move', from: '/a', path: '/a' }), { a: 1 })
  assert.deepEqual(patched({ a: [1] }, { op: 'copy', from: '/a', path: '/b' }), { a: [1], b: [1] })
  assert.deepEqual(patched({ a: 1 }, { op: 'replace', path: '', value: 2 }), 2)
})

test('pointers escape slash and tilde, and can address members of any name', () => {
  assert.deepEqual(
    patched({ 'a/b~c': 1, '': 2 }, { op: 'remove', path: '/a~1b~0c' }, { op: 'remove', path: '/' }),
    {},
  )
  const odd = patched({}, { op: 'add', path: '/__proto__', value: 1 })
  assert.equal(JSON.stringify(odd), '{"__proto__":1}')
})

test('test compares by value, and null matches a missing member', () => {
  patched({ a: { b: 1, c: 2 } }, { op: 'test', path: '/a', value: { c: 2, b: 1 } })
  patched({}, { op: 'test', path: '/a', value: null })
  assert.deepEqual(applyJsonPatch({ a: 1 }, [{ op: 'test', path: '/a', value: 2 }]), {
    ok: false,
    error: 'operation 0: test failed: the value of /a differs',
    testFailed: true,
  })
})

test('a missing value is null, and an unescaped tilde is accepted, as in the API server', () => {
  assert.deepEqual(applyJsonPatch({}, [{ op: 'add', path: '/a' }]), { ok: true, value: { a: null } })
  assert.deepEqual(patched({}, { op: 'add', path: '/a~2', value: 1 }), { 'a~2': 1 })
})

test('applies all operations or none, and does not change the value', () => {
  const value = { a: { b: 1 } }
  errorOf(value, [
    { op: 'add', path: '/a/c', value: 2 },
    { op: 'remove', path: '/x' },
  ])
  patched(value, { op: 'remove', path: '/a/b' })
  assert.deepEqual(value, { a: { b: 1 } })
})

test('rejects operations that cannot be applied, with index and reason', () => {
  const cases: [unknown, string][] = [
    [{}, 'a JSON patch must be a list of operations'],
    [[1], 'operation 0: is not an object'],
    [[{ op: 'add', path: 'a', value: 1 }], 'operation 0: path "a" is not a JSON pointer'],
    [[{ op: 'add', value: 1 }], 'operation 0: path is missing'],
    [[{ op: 'swap', path: '/a' }], 'operation 0: unknown op "swap"'],
    [[{ op: 'remove', path: '/x' }], 'operation 0: /x does not exist'],
    [[{ op: 'replace', path: '/x/y', value: 1 }], 'operation 0: /x/y does not exist'],
    [[{ op: 'replace', path: '/list/1', value: 1 }], 'operation 0: /list/1: index 1 is out of range'],
    [[{ op: 'add', path: '/x/y', value: 1 }], 'operation 0: /x/y does not exist'],
    [[{ op: 'add', path: '/n/y', value: 1 }], 'operation 0: the parent of /n/y is not a list or object'],
    [[{ op: 'add', path: '/list/2', value: 1 }], 'operation 0: /list/2: index 2 is out of range'],
    [[{ op: 'add', path: '/list/01', value: 1 }], 'operation 0: /list/01: "01" is not a list index'],
    [[{ op: 'remove', path: '/list/-' }], 'operation 0: /list/-: "-" is not a list index'],
    [[{ op: 'remove', path: '' }], 'operation 0: the whole document cannot be removed'],
    [[{ op: 'move', from: '/list', path: '/list/0' }], 'operation 0: /list cannot be moved into itself'],
    [[{ op: 'remove', path: '/constructor' }], 'operation 0: /constructor does not exist'],
  ]
  for (const [patch, error] of cases) assert.equal(errorOf({ n: 1, list: [0] }, patch), error)
})

test('the result of a patch has a limited size', () => {
  const doubling = Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '', path: `/x${index}` }))
  assert.match(errorOf({ a: 'x'.repeat(1000) }, doubling), /copies more than|nested deeper/)
  const many = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '', value: 1 }))
  assert.match(errorOf(1, many), /maximum operations in a JSON patch is 10000, got 10001/)
})

test('a diff contains only the differences', () => {
  assert.deepEqual(createJsonPatch({ a: 1, b: { c: 2, d: 3 } }, { a: 1, b: { c: 4 }, e: 5 }), [
    { op: 'remove', path: '/b/d' },
    { op: 'replace', path: '/b/c', value: 4 },
    { op: 'add', path: '/e', value: 5 },
  ])
  assert.deepEqual(createJsonPatch([1, 2, 3, 4], [1, 3, 4]), [{ op: 'remove', path: '/1' }])
  assert.deepEqual(createJsonPatch([1, 4], [1, 2, 3, 4]), [
    { op: 'add', path: '/1', value: 2 },
    { op: 'add', path: '/2', value: 3 },
  ])
  assert.deepEqual(createJsonPatch({ 'a/b': 1 }, { 'a/b': '1' }), [
    { op: 'replace', path: '/a~1b', value: '1' },
  ])
  assert.deepEqual(createJsonPatch({ a: undefined }, {}), [])
})

test('applying a diff gives the other value, and equal values have no diff', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (before, after) => {
      assert.deepEqual(createJsonPatch(before, before), [])
      const result = applyJsonPatch(before, createJsonPatch(before, after))
      assert.ok(result.ok)
      assert.equal(createJsonPatch(result.value, after).length, 0)
    }),
  )
})

test('applying a diff works for lists with common items', () => {
  const list = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 8 })
  fc.assert(
    fc.property(list, list, (before, after) => {
      assert.deepEqual(patched(before, ...createJsonPatch(before, after)), after)
    }),
  )
})

test('applying a patch never throws', () => {
  const operation = fc.record({
    op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'),
    path: fc.constantFrom('', '/a', '/a/0', '/a/-', '/a/b', '/b', '/'),
    from: fc.constantFrom('', '/a', '/a/0', '/b'),
    value: fc.jsonValue(),
  })
  fc.assert(
    fc.property(fc.jsonValue(), fc.array(operation), (value, patch) => {
      assert.equal(typeof applyJsonPatch({ a: value }, patch).ok, 'boolean')
    }),
  )
})
