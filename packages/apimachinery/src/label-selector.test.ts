// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type LabelRequirement,
  type LabelSelector,
  type LabelSelectorObject,
  labelSelectorOf,
  matchesLabels,
  parseLabelSelector,
} from './label-selector.ts'

const labels = { app: 'shop', tier: 'front', size: '12', empty: '' }

/** Formats a selector for parseLabelSelector. */
function formatLabelSelector(selector: LabelSelector): string {
  return selector.map(formatRequirement).join(',')
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'In':
      return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(',')})`
    case 'NotIn':
      return values.length === 1 ? `${key}!=${values[0]}` : `${key} notin (${values.join(',')})`
    case 'Exists':
      return key
    case 'DoesNotExist':
      return `!${key}`
    case 'GreaterThan':
      return `${key}>${values[0]}`
    case 'LessThan':
      return `${key}<${values[0]}`
  }
}

function selects(text: string, of: Record<string, string> = labels): boolean {
  const result = parseLabelSelector(text)
  assert.ok(result.ok, text)
  return matchesLabels(result.selector, of)
}

function errorOf(text: string): string {
  const result = parseLabelSelector(text)
  assert.ok(!result.ok, `${text} is no selector`)
  return result.error
}

test('all requirements of a selector must match', () => {
  const cases: Record<string, boolean> = {
    '': true,
    '  ': true,
    'app=shop': true,
    'app==shop': true,
    'app = shop , tier = front': true,
    'app=shop,tier=back': false,
    'app!=shop': false,
    'other!=shop': true,
    app: true,
    '!app': false,
    '!other': true,
    'tier in (front, back)': true,
    'tier notin (front,back)': false,
    'other notin (a)': true,
    'other in (a)': false,
    'empty=': true,
    'empty in ()': true,
    'empty in (a,,b)': true,
    'app in ()': false,
    'size>11': true,
    'size>12': false,
    'size<13': true,
    'app>1': false,
    'other<1': false,
    'example.com/a': false,
  }
  for (const [text, expected] of Object.entries(cases)) assert.equal(selects(text), expected, text)
})

test('operator names are valid as keys and values', () => {
  assert.ok(selects('in=notin', { in: 'notin' }))
  assert.ok(selects('x in (in,notin)', { x: 'in' }))
})

test('an inherited property is not a label', () => {
  assert.ok(!selects('constructor', {}))
})

test('rejects invalid selectors with the found and expected tokens', () => {
  assert.equal(errorOf(','), "found ',', expected: !, identifier, or 'end of string'")
  assert.equal(errorOf('a,'), "found '', expected: identifier after ','")
  assert.equal(errorOf('!a=b'), "found '=', expected: ',' or 'end of string'")
  assert.equal(
    errorOf('a b'),
    "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
  )
  assert.equal(errorOf('a in b'), "unable to parse requirement: found 'b' expected: '('")
  assert.equal(errorOf('a in ('), "unable to parse requirement: found '', expected: ',', ')' or identifier")
  assert.equal(errorOf('a in (b'), "unable to parse requirement: found '', expected: ',' or ')'")
  assert.equal(errorOf('!'), "unable to parse requirement: found '', expected: identifier")
  assert.equal(errorOf('a=='.concat('=')), "unable to parse requirement: found '=', expected: identifier")
  assert.match(errorOf('-a=b'), /^unable to parse requirement: <nil>: Invalid value: "-a": name part must/)
  assert.match(
    errorOf('a=-'),
    /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "-": a valid label/,
  )
  assert.match(errorOf('a>x'), /values\[0\]: Invalid value: "x": for 'Gt', 'Lt' operators/)
})

test('an absent selector object matches nothing, an empty one everything', () => {
  for (const [object, expected] of [
    [undefined, false],
    [null, false],
    [{}, true],
    [{ matchLabels: {} }, true],
  ] as const) {
    const result = labelSelectorOf(object)
    assert.ok(result.ok)
    assert.equal(matchesLabels(result.selector, labels), expected)
  }
})

test('matchLabels and matchExpressions must all match', () => {
  const of = (object: LabelSelectorObject) => {
    const result = labelSelectorOf(object)
    assert.ok(result.ok)
    return matchesLabels(result.selector, labels)
  }
  assert.ok(of({ matchLabels: { app: 'shop' } }))
  assert.ok(!of({ matchLabels: { app: 'shop', tier: 'back' } }))
  assert.ok(of({ matchExpressions: [{ key: 'tier', operator: 'In', values: ['front'] }] }))
  assert.ok(!of({ matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }))
  assert.ok(of({ matchExpressions: [{ key: 'other', operator: 'NotIn', values: ['x'] }] }))
})

test('rejects an invalid selector object', () => {
  const rejected = (object: LabelSelectorObject) => {
    const result = labelSelectorOf(object)
    assert.ok(!result.ok)
    return result.error
  }
  assert.equal(
    rejected({ matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] }),
    '"Gt" is not a valid label selector operator',
  )
  assert.match(rejected({ matchExpressions: [{ key: 'a', operator: 'In' }] }), /values set can't be empty/)
  assert.match(
    rejected({ matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] }),
    /values set must be empty/,
  )
})

test('parsing a formatted selector gives the same selector', () => {
  const text = 'a=b,!c,d notin (x,y),e,f in (,z),g>5,h!=i'
  const parsed = parseLabelSelector(text)
  assert.ok(parsed.ok)
  const again = parseLabelSelector(formatLabelSelector(parsed.selector))
  assert.deepEqual(again, parsed)
})

test('the parser never throws', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[ab !=(),<>]*$/), text => {
      const parsed = parseLabelSelector(text)
      if (parsed.ok) assert.deepEqual(parseLabelSelector(formatLabelSelector(parsed.selector)), parsed)
    }),
  )
})
