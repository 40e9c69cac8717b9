// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { matchesFields, parseFieldSelector } from './field-selector.ts'

const fields: Record<string, string> = { 'metadata.name': 'a', 'status.phase': 'Running', odd: 'x,y=z\\' }

function selects(text: string): boolean {
  const result = parseFieldSelector(text)
  assert.ok(result.ok, text)
  return matchesFields(result.selector, field => fields[field])
}

test('all terms of a field selector must match', () => {
  const cases: Record<string, boolean> = {
    '': true,
    'metadata.name=a': true,
    'metadata.name==a': true,
    'metadata.name=b': false,
    'metadata.name!=b': true,
    'metadata.name=a,status.phase!=Running': false,
    ',metadata.name=a,': true,
    '!=': true,
    'absent=': true,
    'absent=x': false,
    'odd=x\\,y\\=z\\\\': true,
  }
  for (const [text, expected] of Object.entries(cases)) assert.equal(selects(text), expected, text)
})

test('rejects invalid field selectors', () => {
  const cases: Record<string, string> = {
    abc: "invalid selector: 'abc'; can't understand 'abc'",
    'a=b=c': 'invalid field selector: unescaped character in value: 61',
    'a=b\\c': 'invalid field selector: invalid escape sequence: \\c',
    'a=b\\': 'invalid field selector: invalid escape sequence: \\',
  }
  for (const [text, error] of Object.entries(cases))
    assert.deepEqual(parseFieldSelector(text), { ok: false, error })
})

test('the parser never throws', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[ab=!,\\]*$/), text => typeof parseFieldSelector(text).ok === 'boolean'),
  )
})
