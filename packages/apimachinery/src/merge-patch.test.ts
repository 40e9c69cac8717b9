// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { equalJson } from './json-value.ts'
import { applyMergePatch, createMergePatch } from './merge-patch.ts'

test('members are replaced, null removes, and lists are replaced as a whole', () => {
  const cases: [unknown, unknown, unknown][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ]
  for (const [value, patch, expected] of cases) assert.deepEqual(applyMergePatch(value, patch), expected)
})

test('changes neither the value nor the patch', () => {
  const value = { a: { b: 1 } }
  const patch = { a: { c: { d: 1 } } }
  const result = applyMergePatch(value, patch) as { a: { c: { d: number } } }
  result.a.c.d = 2
  assert.deepEqual(value, { a: { b: 1 } })
  assert.deepEqual(patch, { a: { c: { d: 1 } } })
})

test('patches members of any name', () => {
  const patched = applyMergePatch(
    JSON.parse('{"__proto__":1,"constructor":2}'),
    JSON.parse('{"__proto__":{"a":1},"constructor":null}'),
  )
  assert.equal(JSON.stringify(patched), '{"__proto__":{"a":1}}')
})

test('a created patch contains only the differences', () => {
  assert.deepEqual(createMergePatch({ a: 1, b: { c: 1, d: 2 }, e: [1] }, { a: 1, b: { c: 2 }, e: [2] }), {
    b: { c: 2, d: null },
    e: [2],
  })
  assert.equal(createMergePatch({ a: [1] }, { a: [1] }), undefined)
})

/** JSON without null members, as a merge patch can express it. */
const expressible = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.integer(),
    fc.string(),
    fc.boolean(),
    fc.array(fc.integer()),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'toString'), tie('value')),
  ),
})).value

test('applying a created patch gives the other value', () => {
  fc.assert(
    fc.property(expressible, expressible, (before, after) => {
      const patch = createMergePatch(before, after)
      const result = patch === undefined ? before : applyMergePatch(before, patch)
      assert.ok(equalJson(result, after))
    }),
  )
})

test('applying a patch twice has the same result as once', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (value, patch) => {
      const once = applyMergePatch(value, patch)
      assert.ok(equalJson(applyMergePatch(once, patch), once))
    }),
  )
})
