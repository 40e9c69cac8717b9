// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CommandError } from '../command-error.ts'
import { rejectedTemplates, templates, thing } from '../testing/json-path-table.ts'
import { customColumnLines, parseColumns, parseColumnsFile } from './custom-columns.ts'
import { parseTemplate } from './json-path.ts'
import { evaluateTemplate, templateJson, templateText } from './json-path-values.ts'
import { sortedBy } from './sort-by.ts'

describe('JSONPath templates', () => {
  const results = (template: string) => evaluateTemplate(parseTemplate(template), thing)

  for (const [template, output] of templates)
    it(template, () => {
      assert.equal(templateText(results(template)), output)
    })

  for (const [template, message] of rejectedTemplates)
    it(`rejects ${template}`, () => {
      assert.throws(
        () => results(template),
        error => error instanceof CommandError && message.test(error.message),
      )
    })

  it('jsonpath-as-json prints a list for each expression', () => {
    assert.equal(
      templateJson(results('{.spec.map}{.spec.text}')),
      '[\n    {\n        "a": "1",\n        "b": "2"\n    }\n]\n[\n    "a\\u003cb\\u003e \\u0026 \\"c\\""\n]\n',
    )
  })
})

describe('custom columns', () => {
  it('prints values as kubectl does, and <none> for missing ones', () => {
    const columns = parseColumns(
      'NAME:.metadata.name,List:spec.list[*],MAP:{.spec.map},GONE:{spec.gone},NULL:.spec.nothing',
    )
    assert.deepEqual(customColumnLines(columns, [thing], true), [
      'NAME   List    MAP            GONE     NULL',
      'one    x,y,z   map[a:1 b:2]   <none>   <nil>',
    ])
    assert.deepEqual(customColumnLines(columns.slice(0, 2), [thing], false), ['one   x,y,z'])
  })

  it('reads a file with a line of headers and a line of paths', () => {
    const columns = parseColumnsFile('NAME   COUNT\nmetadata.name  {.spec.count}\n')
    assert.deepEqual(customColumnLines(columns, [thing], true), ['NAME   COUNT', 'one    3'])
    assert.throws(() => parseColumnsFile('NAME COUNT\nmetadata.name\n'), /2 headers and 1 paths/)
  })

  it('rejects columns without a path', () => {
    assert.throws(() => parseColumns('NAME'), /expected <header>:<json-path-expr>/)
    assert.throws(() => parseColumns('NAME:{.a}{.b}'), /is not a path; use/)
  })
})

describe('--sort-by', () => {
  const sorted = (values: unknown[], field = '.v') =>
    sortedBy(field, values, v => (v === undefined ? {} : { v }))

  it('sorts numbers, texts and quantities, and puts missing values first', () => {
    assert.deepEqual(sorted([10, 9, 100]), [9, 10, 100])
    assert.deepEqual(sorted(['b', 'a', 'c'], '{.v}'), ['a', 'b', 'c'])
    assert.deepEqual(sorted(['1Gi', '500Mi', '2k'], 'v'), ['2k', '500Mi', '1Gi'])
    assert.deepEqual(sorted(['b', undefined, 'a']), [undefined, 'a', 'b'])
    assert.deepEqual(sorted(['b', null, 'a']), [null, 'a', 'b'])
  })

  it('rejects a field that no object has, and values without an order', () => {
    assert.throws(
      () => sorted(['a'], '.w'),
      /couldn't find any field with path "\{\.w\}" in the list of objects/,
    )
    assert.throws(() => sorted([true, false]), /cannot sort by \.v/)
    assert.throws(() => sorted(['a', 1]), /cannot sort by \.v/)
    assert.deepEqual(sorted([], '.w'), [])
  })
})
