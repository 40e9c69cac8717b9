// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileSchema } from '../structural-schema/compile.ts'
import { validate } from '../structural-schema/validate.ts'

/** Evaluates an expression that needs no object. Returns the result or the error. */
function evaluate(rule: string): boolean | string {
  const schema = compileSchema({
    type: 'object',
    'x-kubernetes-validations': [{ rule, message: 'is false' }],
  })
  const [error] = validate(schema, {})
  if (error === undefined) return true
  return error.detail === 'is false' ? false : error.detail
}

function allTrue(...rules: string[]): void {
  for (const rule of rules) assert.equal(evaluate(rule), true, rule)
}

test('string functions', () => {
  allTrue(
    '"ABC".lowerAscii() == "abc"',
    '"a,b,c".split(",") == ["a", "b", "c"]',
    '"a,b,c".split(",", 2) == ["a", "b,c"]',
    '["a", "b"].join("-") == "a-b"',
    '"abcabc".replace("b", "$&") == "a$&ca$&c"',
    '"abcabc".replace("b", "x", 1) == "axcabc"',
    '"abc".charAt(1) == "b"',
    '"abc".charAt(3) == ""',
    '" a ".trim() == "a"',
    '"abc".substring(1, 2) == "b"',
    'strings.quote("a\\"b") == "\\"a\\\\\\"b\\""',
    '"abc".matches("^a.c$")',
  )
  assert.match(String(evaluate('"abc".charAt(4) == ""')), /index out of range: 4/)
})

test('regular expressions', () => {
  allTrue(
    '"abc 123".find("[0-9]+") == "123"',
    '"abc".find("[0-9]+") == ""',
    '"12 ab 34".findAll("[0-9]+") == ["12", "34"]',
    '"12 ab 34".findAll("[0-9]+", 1) == ["12"]',
    '"12".findAll("[0-9]", 0) == []',
    '"ABC".find("(?i)b") == "B"',
  )
})

test('formatting', () => {
  allTrue(
    '"%s %d%%".format(["a", 5]) == "a 5%"',
    '"%.2f".format([1.5]) == "1.50"',
    '"%e".format([1500.0]) == "1.500000e+03"',
    '"%x %X %o %b %b".format([255, "ab", 8, 5, true]) == "ff 6162 10 101 1"',
    '"%s".format([["a", 1, true]]) == "[a, 1, true]"',
    '"%s".format([{"b": 1, "a": null}]) == "{a: null, b: 1}"',
  )
  assert.match(String(evaluate('"%s%s".format(["a"]) == ""')), /index 1 out of range/)
  assert.match(String(evaluate('"%d".format(["a"]) == ""')), /needs an integer/)
  assert.match(String(evaluate('"%q".format(["a"]) == ""')), /unrecognized formatting clause "q"/)
})

test('list functions', () => {
  allTrue(
    '[1, 2, 2].isSorted() && ["a", "b"].isSorted() && [].isSorted() && ![2.0, 1.0].isSorted()',
    '[1, 3].sum() == 4 && [1.0, 0.5].sum() == 1.5 && [].sum() == 0',
    '[3, 1, 2].min() == 1 && ["b", "a"].max() == "b"',
    '[1, 2, 2].indexOf(2) == 1 && [1, 2, 2].lastIndexOf(2) == 2 && [1].indexOf(5) == -1',
    '[{"a": 1}].indexOf({"a": 1}) == 0',
    '[1, 2].includes(2) && ![1, 2].includes(3)',
    '[1, 1, 2].distinct() == [1, 2]',
    '[1, 2].reverse() == [2, 1] && [2, 1].sort() == [1, 2]',
    '[1, 2, 3].slice(1, 3) == [2, 3]',
    '[[1], [2]].flatten() == [1, 2]',
    '[timestamp("2024-01-01T00:00:00Z")].max() == timestamp("2024-01-01T00:00:00Z")',
  )
  assert.match(String(evaluate('[].min() == 1')), /min called on empty list/)
  assert.match(String(evaluate('[1].slice(0, 5) == []')), /cannot slice\(0, 5\), list is length 1/)
})

test('set functions', () => {
  allTrue(
    'sets.contains([1, 2], [2])',
    '!sets.contains([1], [2])',
    'sets.equivalent([1, 1, 2], [2, 1])',
    '!sets.equivalent([1], [1, 2])',
    'sets.intersects([1, 2], [2, 3])',
    '!sets.intersects([], [1])',
  )
})

test('URLs and IP addresses', () => {
  allTrue(
    'isURL("https://example.com/a") && !isURL("../a") && isURL("/a")',
    'url("https://me@example.com:80/a?k=1&k=2").getHost() == "example.com:80"',
    'url("https://[::1]:80/").getHostname() == "::1" && url("https://h:80/").getPort() == "80"',
    'url("https://h/a b").getEscapedPath() == "/a%20b" && url("https://h").getScheme() == "https"',
    'url("https://h/?k=1&k=2").getQuery() == {"k": ["1", "2"]}',
    'url("https://h/a") == url("https://h/a")',
    'isIP("10.0.0.1") && isIP("::1") && !isIP("10.0.0") && isCIDR("10.0.0.0/8")',
  )
  assert.match(String(evaluate('url("a").getHost() == ""')), /URL parse error/)
})

test('quantities', () => {
  allTrue(
    'quantity("1Gi").isGreaterThan(quantity("1G")) && quantity("1G").isLessThan(quantity("1Gi"))',
    'quantity("1024Mi").compareTo(quantity("1Gi")) == 0 && quantity("1024Mi") == quantity("1Gi")',
    'quantity("50k").add(20) == quantity("50020") && quantity("50k").sub(quantity("20k")) == quantity("30k")',
    'quantity("1500m").isInteger() == false && quantity("2k").asInteger() == 2000',
    'quantity("500m").asApproximateFloat() == 0.5',
    'isQuantity("1.3Gi") && !isQuantity("200K") && !isQuantity(" 1")',
  )
  assert.match(String(evaluate('quantity("x").isInteger()')), /quantities must match/)
  assert.match(String(evaluate('quantity("500m").asInteger() == 0')), /cannot convert value to integer/)
})
