// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { GoField, GoStruct, GoType } from '../apply/index.ts'
import { equalJson, type JsonObject } from '../json-value.ts'
import { applyStrategicMerge, StrategicMergeError } from './index.ts'

const text: GoType = { kind: 'scalar', scalar: 'string' }

function field(type: GoType, patchStrategies: string[] = [], patchMergeKey?: string): GoField {
  const flags = { pointer: false, omitEmpty: true, omitZero: false }
  return {
    type,
    ...flags,
    patchStrategies,
    patchMergeKey,
    listType: undefined,
    listMapKeys: [],
    structType: undefined,
  }
}

function struct(name: string, fields: Record<string, GoField>): GoStruct {
  return { name: `test/v1.${name}`, fields: new Map(Object.entries(fields)) }
}

const list = (of: GoType): GoType => ({ kind: 'list', of })
const item: GoType = {
  kind: 'struct',
  struct: struct('Item', { name: field(text), value: field(text), more: field(text) }),
}
const thing = struct('Thing', {
  title: field(text),
  labels: field({ kind: 'map', of: text }),
  items: field(list(item), ['merge'], 'name'),
  whole: field(list(item)),
  tags: field(list(text), ['merge']),
  texts: field(list(text)),
  choice: field(item, ['retainKeys']),
  replaced: field(item, ['replace']),
})

const named = (...names: string[]) => names.map(name => ({ name }))

describe('results', () => {
  const cases: [what: string, original: JsonObject, patch: JsonObject, result: JsonObject][] = [
    ['a scalar is replaced', { title: 'a' }, { title: 'b' }, { title: 'b' }],
    ['null removes', { title: 'a', tags: ['x'] }, { title: null }, { tags: ['x'] }],
    ['objects are merged', { labels: { a: '1' } }, { labels: { b: '2' } }, { labels: { a: '1', b: '2' } }],
    ['nulls in a new object are dropped', {}, { labels: { a: null, b: '2' } }, { labels: { b: '2' } }],
    [
      'items are merged by their key',
      { items: [{ name: 'a', value: '1' }, { name: 'b' }] },
      { items: [{ name: 'a', more: '2' }] },
      { items: [{ name: 'a', value: '1', more: '2' }, { name: 'b' }] },
    ],
    [
      'new items come before others',
      { items: named('a') },
      { items: named('b') },
      { items: named('b', 'a') },
    ],
    [
      'a list without a strategy is replaced',
      { whole: named('a') },
      { whole: named('b') },
      { whole: named('b') },
    ],
    ['scalars are a set', { tags: ['a', 'b'] }, { tags: ['c', 'b'] }, { tags: ['c', 'a', 'b'] }],
    ['texts are replaced', { texts: ['a', 'b'] }, { texts: ['b'] }, { texts: ['b'] }],
    [
      'an item is deleted',
      { items: named('a', 'b') },
      { items: [{ name: 'a', $patch: 'delete' }] },
      { items: named('b') },
    ],
    [
      'a list is replaced',
      { items: named('a') },
      { items: [...named('b'), { $patch: 'replace' }] },
      { items: named('b') },
    ],
    [
      'a map is replaced',
      { labels: { a: '1' } },
      { labels: { $patch: 'replace', b: '2' } },
      { labels: { b: '2' } },
    ],
    ['a map is emptied', { labels: { a: '1' } }, { labels: { $patch: 'delete' } }, { labels: {} }],
    [
      'a field with the strategy replace is replaced',
      { replaced: { name: 'a' } },
      { replaced: { value: '1' } },
      { replaced: { value: '1' } },
    ],
    [
      'only retained keys remain',
      { choice: { name: 'a', value: '1' } },
      { choice: { $retainKeys: ['name', 'more'], more: '2' } },
      { choice: { name: 'a', more: '2' } },
    ],
    [
      'scalars are deleted',
      { tags: ['a', 'b'] },
      { '$deleteFromPrimitiveList/tags': ['a'] },
      { tags: ['b'] },
    ],
    [
      'items are ordered',
      { items: named('a', 'b', 'c') },
      { '$setElementOrder/items': named('c', 'a') },
      { items: named('b', 'c', 'a') },
    ],
    [
      'existing and new items are ordered',
      { items: named('a', 'x', 'b') },
      { '$setElementOrder/items': named('b', 'n', 'a'), items: named('n') },
      { items: named('x', 'b', 'n', 'a') },
    ],
  ]
  for (const [what, original, patch, result] of cases)
    test(what, () => {
      const before = JSON.stringify([original, patch])
      assert.deepEqual(applyStrategicMerge(original, patch, thing), result)
      assert.equal(JSON.stringify([original, patch]), before)
    })
})

describe('errors', () => {
  const cases: [patch: JsonObject, code: number, message: string][] = [
    [
      { items: [{ value: '1', more: 'x' }] },
      500,
      'map: map[more:x value:1] does not contain declared merge key: name',
    ],
    [
      { items: [{ $patch: 'delete' }] },
      500,
      'map: map[$patch:delete] does not contain declared merge key: name',
    ],
    [{ labels: { $patch: 'merge' } }, 500, 'unknown patch type: merge in map: map[$patch:merge]'],
    [{ choice: { $retainKeys: ['name'], value: '1' } }, 400, 'invalid patch format of retainKeys'],
    [{ $deleteFromPrimitiveList: [] }, 400, 'invalid patch format of primitive list'],
    [{ '$setElementOrder/tags': 'a' }, 500, 'expected a []interface {}, but received a string'],
    [{ tags: [['a']] }, 500, 'list element types are not identical: [[a] [[a]]]'],
    [
      { '$setElementOrder/nothing': [] },
      500,
      'unable to find api field in struct Thing for the json field "nothing"',
    ],
  ]
  const original = { items: named('a'), labels: { a: '1' }, choice: { name: 'a' }, tags: ['a'] }
  for (const [patch, code, message] of cases)
    test(JSON.stringify(patch), () => {
      assert.throws(
        () => applyStrategicMerge(original, patch, thing),
        error => error instanceof StrategicMergeError && error.code === code && error.message === message,
      )
    })
})

test('any patch is merged or rejected, and the empty patch changes nothing', () => {
  const keys = [
    'title',
    'items',
    'tags',
    'labels',
    'choice',
    '$patch',
    '$retainKeys',
    '$setElementOrder/items',
    'name',
    'x',
  ]
  const { value } = fc.letrec<{ value: unknown }>(tie => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('a', 'replace', 'delete', null, 1, true),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...keys), tie('value')),
    ),
  }))
  const object = fc.dictionary(fc.constantFrom(...keys), value) as fc.Arbitrary<JsonObject>
  fc.assert(
    fc.property(object, object, (original, patch) => {
      try {
        applyStrategicMerge(original, patch, thing)
      } catch (error) {
        if (!(error instanceof StrategicMergeError)) throw error
      }
      assert.ok(equalJson(applyStrategicMerge(original, {}, thing), original))
    }),
    { numRuns: 300 },
  )
})
