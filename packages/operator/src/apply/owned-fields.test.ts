// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyMergePatch } from '@grove/apimachinery'
import fc from 'fast-check'
import { mergePatch, patchMembers, sameMeaning } from './owned-fields.ts'

test('absent, null and empty values are equal and cause no patch', () => {
  assert.equal(mergePatch({ a: 1, b: [], c: {}, d: null }, { a: 1 }), undefined)
  assert.equal(mergePatch({ a: 1 }, { a: 1, b: [], c: {}, d: undefined }), undefined)
})

test('removes members that are not wanted, and replaces lists as a whole', () => {
  assert.deepEqual(mergePatch({ keep: 'x', gone: 'y' }, { keep: 'x' }), { gone: null })
  assert.deepEqual(mergePatch({ list: [1, 2] }, { list: [2, 1] }), { list: [2, 1] })
})

test('compares only the members that the operator owns', () => {
  const existing = { clusterIP: 'None', selector: { a: 'b' }, ipFamilies: ['IPv4'], type: 'ClusterIP' }
  assert.equal(
    patchMembers(existing, { clusterIP: 'None', selector: { a: 'b' } }, ['clusterIP', 'selector']),
    undefined,
  )
  assert.deepEqual(patchMembers(existing, { selector: { a: 'c' } }, ['selector']), { selector: { a: 'c' } })
})

test('treats keys that every object inherits, like `constructor`, as ordinary keys', () => {
  for (const key of ['constructor', 'toString', '__proto__']) {
    const named = JSON.parse(`{"${key}":"x"}`) as Record<string, string>
    assert.equal(JSON.stringify(mergePatch(named, {})), `{"${key}":null}`)
    assert.equal(JSON.stringify(mergePatch({}, named)), JSON.stringify(named))
    assert.equal(patchMembers({}, {}, [key]), undefined)
  }
})

const json = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(1, 'x', true, false, 0, ''),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }),
  ),
})).value
const object = fc.dictionary(fc.constantFrom('a', 'b', 'constructor', '__proto__'), json, { maxKeys: 4 })

test('applying the patch gives the wanted object, and a second patch is empty', () => {
  fc.assert(
    fc.property(object, object, (existing, wanted) => {
      const applied = applyMergePatch(existing, mergePatch(existing, wanted) ?? {})
      assert.ok(sameMeaning(applied, wanted))
      assert.equal(mergePatch(applied, wanted), undefined)
    }),
  )
})
