// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { jsonSyntaxError } from './json-syntax.ts'

const cases: Readonly<Record<string, string>> = {
  '': 'unexpected end of JSON input',
  '{': 'unexpected end of JSON input',
  '{"a"': 'unexpected end of JSON input',
  '[1,': 'unexpected end of JSON input',
  '"a': 'unexpected end of JSON input',
  '{"a":}': "invalid character '}' looking for beginning of value",
  '{"a":1,}': "invalid character '}' looking for beginning of object key string",
  "{'a':1}": "invalid character '\\'' looking for beginning of object key string",
  '{"a" 1}': "invalid character '1' after object key",
  '{"a":01}': "invalid character '1' after object key:value pair",
  '[1 2]': "invalid character '2' after array element",
  '{} x': "invalid character 'x' after top-level value",
  '"\\x"': "invalid character 'x' in string escape code",
  '"\\u00g0"': "invalid character 'g' in \\u hexadecimal character escape",
  '"\t"': "invalid character '\\t' in string literal",
  trux: "invalid character 'x' in literal true (expecting 'e')",
  '-x': "invalid character 'x' in numeric literal",
  '1.x': "invalid character 'x' after decimal point in numeric literal",
  '1ex': "invalid character 'x' in exponent of numeric literal",
  '\ufeff{}': "invalid character 'ï' looking for beginning of value",
}

for (const [text, wanted] of Object.entries(cases))
  it(`${JSON.stringify(text)} is not JSON: ${wanted}`, () => {
    assert.equal(jsonSyntaxError(Buffer.from(text)), wanted)
  })

it('accepts exactly the texts that JSON.parse accepts', () => {
  const fragment = fc.oneof(
    fc.json(),
    fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      'u',
      '0',
      '1',
      '-',
      '.',
      'e',
      'true',
      'nul',
      ' ',
    ),
  )
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 6 }), fragments => {
      const text = fragments.join('')
      assert.equal(jsonSyntaxError(Buffer.from(text)) === undefined, parses(text), text)
    }),
  )
})

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
