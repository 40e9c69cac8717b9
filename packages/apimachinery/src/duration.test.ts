// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatDuration, parseDuration } from './duration.ts'

function nanoseconds(text: string): bigint {
  const result = parseDuration(text)
  assert.ok(result.ok, `${text} is a duration`)
  return result.nanoseconds
}

function errorOf(text: string): string {
  const result = parseDuration(text)
  assert.ok(!result.ok, `${text} is no duration`)
  return result.error
}

test('a duration is a sum of decimal numbers with units, optionally signed', () => {
  const second = 1_000_000_000n
  const cases: Record<string, bigint> = {
    '0': 0n,
    '+0': 0n,
    '1ns': 1n,
    '1us': 1_000n,
    '1µs': 1_000n,
    '1μs': 1_000n,
    '500ms': second / 2n,
    '1.5s': (3n * second) / 2n,
    '.5s': second / 2n,
    '5.s': 5n * second,
    '1h30m': 5400n * second,
    '1.5h': 5400n * second,
    '90m': 5400n * second,
    '-90s': -90n * second,
    '+4h': 14400n * second,
    '0.100000000000000000000h': 360n * second,
    '0.3333333333333333333h': 1200n * second,
    '2562047h47m16.854775807s': (1n << 63n) - 1n,
    '-9223372036854775808ns': -(1n << 63n),
    '00000000000000000000000005s': 5n * second,
  }
  for (const [text, expected] of Object.entries(cases)) assert.equal(nanoseconds(text), expected, text)
})

test('rejects invalid durations with the messages of Go', () => {
  const cases: Record<string, string> = {
    '': 'time: invalid duration ""',
    '-': 'time: invalid duration "-"',
    x: 'time: invalid duration "x"',
    '.': 'time: invalid duration "."',
    '.s': 'time: invalid duration ".s"',
    ' 1h': 'time: invalid duration " 1h"',
    '1h ': 'time: unknown unit "h " in duration "1h "',
    '4 hours': 'time: unknown unit " hours" in duration "4 hours"',
    '5': 'time: missing unit in duration "5"',
    '1.5': 'time: missing unit in duration "1.5"',
    '5d': 'time: unknown unit "d" in duration "5d"',
    '5constructor': 'time: unknown unit "constructor" in duration "5constructor"',
    '9999999999h': 'time: invalid duration "9999999999h"',
    '9223372036854775808ns': 'time: invalid duration "9223372036854775808ns"',
    '1é': 'time: unknown unit "\\xc3\\xa9" in duration "1\\xc3\\xa9"',
    '"': 'time: invalid duration "\\""',
  }
  for (const [text, expected] of Object.entries(cases)) assert.equal(errorOf(text), expected)
})

test('rejects a number with a million digits immediately', () => {
  assert.match(errorOf(`${'9'.repeat(1_000_000)}h`), /^time: invalid duration/)
})

test('durations are formatted in the canonical form', () => {
  const cases: Record<string, string> = {
    '0': '0s',
    '4h': '4h0m0s',
    '90s': '1m30s',
    '30s': '30s',
    '500ms': '500ms',
    '1500ms': '1.5s',
    '1500us': '1.5ms',
    '10us': '10µs',
    '7ns': '7ns',
    '-90m': '-1h30m0s',
    '1h0m0.000000001s': '1h0m0.000000001s',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(formatDuration(nanoseconds(text)), expected)
})

test('parsing a formatted duration gives the same duration', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }), value => {
      assert.equal(nanoseconds(formatDuration(value)), value)
    }),
  )
})

test('the parser never throws', () => {
  fc.assert(fc.property(fc.string(), text => typeof parseDuration(text).ok === 'boolean'))
})
