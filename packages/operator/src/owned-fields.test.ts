// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { mergePatch, patchMembers, sameMeaning } from './owned-fields.ts'

test('nothing is patched where only the spelling of emptiness differs', () => {
  assert.equal(mergePatch({ a: 1, b: [], c: {}, d: null }, { a: 1 }), undefined)
  assert.equal(mergePatch({ a: 1 }, { a: 1, b: [], c: {}, d: undefined }), undefined)
})

test('what is not wanted any more is taken away, what others added inside a list goes with the list', () => {
  assert.deepEqual(mergePatch({ keep: 'x', gone: 'y' }, { keep: 'x' }), { gone: null })
  assert.deepEqual(mergePatch({ list: [1, 2] }, { list: [2, 1] }), { list: [2, 1] })
})

test('only the members that are ours are looked at', () => {
  const existing = { clusterIP: 'None', selector: { a: 'b' }, ipFamilies: ['IPv4'], type: 'ClusterIP' }
  assert.equal(
    patchMembers(existing, { clusterIP: 'None', selector: { a: 'b' } }, ['clusterIP', 'selector']),
    undefined,
  )
  assert.deepEqual(patchMembers(existing, { selector: { a: 'c' } }, ['selector']), { selector: { a: 'c' } })
})

const json = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(1, 'x', true, false, 0, ''),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }),
  ),
})).value
const object = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), json, { maxKeys: 4 })

test('applying the patch gives what was wanted, and then there is nothing left to patch', () => {
  fc.assert(
    fc.property(object, object, (existing, wanted) => {
      const applied = apply(existing, mergePatch(existing, wanted) ?? {})
      assert.ok(sameMeaning(applied, wanted))
      assert.equal(mergePatch(applied, wanted), undefined)
    }),
  )
})

function apply(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const result: Record<string, unknown> =
    typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = apply(result[key], value)
  }
  return result
}
