// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  decodeFieldsV1,
  describePath,
  difference,
  encodeFieldsV1,
  equalSets,
  type FieldPath,
  type FieldSet,
  fieldElement,
  fields,
  hasPath,
  indexElement,
  intersection,
  isEmptySet,
  keyElement,
  pathsOf,
  recursiveDifference,
  setOf,
  union,
  valueElement,
} from './index.ts'

const element = fc.oneof(
  fc.constantFrom('a', 'b', 'c', 'a<b', '__proto__').map(fieldElement),
  fc.constantFrom('x', 'y').map(name => keyElement([['name', name]])),
  fc.constantFrom(1, 10, 9, 'x', '<', true, null).map(valueElement),
  fc.nat(2).map(indexElement),
)
const path: fc.Arbitrary<FieldPath> = fc.array(element, { minLength: 1, maxLength: 3 })
const set: fc.Arbitrary<FieldSet> = fc.array(path, { maxLength: 8 }).map(paths => setOf(...paths))

const same = (a: FieldSet, b: FieldSet) => assert.deepEqual(encodeFieldsV1(a), encodeFieldsV1(b))

describe('field sets', () => {
  test('contain the paths they were built from', () => {
    fc.assert(
      fc.property(fc.array(path, { maxLength: 8 }), paths => {
        const made = setOf(...paths)
        for (const one of paths) assert.ok(hasPath(made, one))
        const texts = new Set(paths.map(describePath))
        assert.deepEqual(new Set([...pathsOf(made)].map(describePath)), texts)
      }),
    )
  })
  test('have a union that is commutative, associative and idempotent', () => {
    fc.assert(
      fc.property(set, set, set, (a, b, c) => {
        same(union(a, b), union(b, a))
        same(union(a, union(b, c)), union(union(a, b), c))
        same(union(a, a), a)
      }),
    )
  })
  test('split into intersection and difference', () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        same(union(intersection(a, b), difference(a, b)), a)
        assert.ok(isEmptySet(intersection(difference(a, b), b)))
        same(intersection(a, b), intersection(b, a))
        assert.ok(isEmptySet(difference(a, a)))
      }),
    )
  })
  test('lose the fields below a member only in the recursive difference', () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        const recursive = recursiveDifference(a, b)
        assert.ok(isEmptySet(difference(recursive, difference(a, b))))
        for (const one of pathsOf(recursive))
          for (let length = 1; length <= one.length; length++) assert.ok(!hasPath(b, one.slice(0, length)))
      }),
    )
  })
  test('have the order of the API server: fields, keys, values as numbers and strings', () => {
    const made = setOf(
      [indexElement(10)],
      [indexElement(9)],
      [valueElement('a')],
      [valueElement(10)],
      [valueElement(9)],
      [valueElement(true)],
      [keyElement([['port', 10]])],
      [keyElement([['port', 9]])],
      [keyElement([['name', 'a-b']])],
      [keyElement([['name', 'a']])],
      [fieldElement('b')],
      [fieldElement('B')],
    )
    assert.deepEqual(Object.keys(encodeFieldsV1(made)), [
      'f:B',
      'f:b',
      'k:{"name":"a"}',
      'k:{"name":"a-b"}',
      'k:{"port":9}',
      'k:{"port":10}',
      'v:9',
      'v:10',
      'v:"a"',
      'v:true',
      'i:9',
      'i:10',
    ])
  })
})

describe('FieldsV1', () => {
  test('decodes its own encoding', () => {
    fc.assert(fc.property(set, a => assert.ok(equalSets(decodeFieldsV1(encodeFieldsV1(a)), a))))
  })
  test('marks members that have members below', () => {
    assert.deepEqual(encodeFieldsV1(fields('a', 'a.b', 'c.d')), {
      'f:a': { '.': {}, 'f:b': {} },
      'f:c': { 'f:d': {} },
    })
  })
  test('has the same meaning for any key format', () => {
    const read = decodeFieldsV1({ 'k:{"b": 1,"a":"<"}': {} })
    assert.deepEqual(Object.keys(encodeFieldsV1(read)), ['k:{"a":"\\u003c","b":1}'])
  })
  test('drops elements of unknown types and rejects malformed ones', () => {
    assert.ok(isEmptySet(decodeFieldsV1({ 'x:later': {} })))
    for (const key of ['', 'f', 'fa', 'v:{', 'k:[]', 'i:x', 'v:'])
      assert.throws(() => decodeFieldsV1({ [key]: {} }), SyntaxError, key)
    assert.throws(() => decodeFieldsV1({ 'f:a': 1 }), SyntaxError)
  })
})

describe('paths have the format of API server messages', () => {
  const cases: [FieldPath, string][] = [
    [[fieldElement('spec'), fieldElement('replicas')], '.spec.replicas'],
    [
      [
        fieldElement('ports'),
        keyElement([
          ['port', 80],
          ['protocol', 'TCP'],
        ]),
      ],
      '.ports[port=80,protocol="TCP"]',
    ],
    [[fieldElement('finalizers'), valueElement('a"b')], '.finalizers[="a\\"b"]'],
    [[fieldElement('a.b/c'), indexElement(0)], '.a.b/c[0]'],
  ]
  for (const [given, text] of cases) test(text, () => assert.equal(describePath(given), text))
})
