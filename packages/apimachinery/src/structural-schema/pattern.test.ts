// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { goRegExp } from './pattern.ts'

test('regular expressions have the semantics of Go', () => {
  const cases: [string, string[], string[]][] = [
    ['^[a-z][a-z0-9-]*$', ['a-1'], ['A', 'a\n']],
    ['(?i)^abc$', ['ABC'], ['abcd']],
    ['^a(?i)bc$', ['aBC'], ['ABC']],
    ['^(a(?i)b)c$', ['aBc'], ['aBC']],
    ['^(?i:a)b$', ['Ab'], ['AB']],
    ['^[[:alpha:]_]+$', ['aB_'], ['a1']],
    ['^[^[:digit:]]+$', ['ab'], ['a1']],
    ['^\\pL+\\p{N}$', ['é1'], ['1é']],
    ['\\Aab\\z', ['ab'], ['xab', 'abx']],
    ['^(?P<year>\\d{4})$', ['2024'], ['24']],
    ['^[]a]+$', [']a'], ['b']],
    ['^[a\\]b]$', [']'], ['c']],
    ['^a\\-b\\_c$', ['a-b_c'], ['ab']],
    ['^.$', ['😀'], ['ab']],
  ]
  for (const [pattern, matching, other] of cases) {
    const expression = goRegExp(pattern)
    for (const text of matching) assert.ok(expression.test(text), `${pattern} matches ${text}`)
    for (const text of other) assert.ok(!expression.test(text), `${pattern} does not match ${text}`)
  }
})

test('an invalid expression is rejected with the message of Go', () => {
  assert.throws(() => goRegExp('a**'), /error parsing regexp: invalid nested repetition operator: `\*\*`/)
})

test('an expression with catastrophic backtracking in JavaScript matches in linear time', () => {
  assert.equal(goRegExp('^(a+)+$').test(`${'a'.repeat(50_000)}b`), false)
})
