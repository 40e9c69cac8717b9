// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CommandError } from '../command-error.ts'
import { parseManifests } from './manifest.ts'

const values = (text: string) => parseManifests(text, 'file.yaml').map(document => document.value)

test('a file may contain several documents, YAML or JSON, and empty ones are skipped', () => {
  assert.deepEqual(values('a: 1\n---\n\n---\n{"b": 2}\n--- \n# only a comment\n---\nc: [3]\n'), [
    { a: 1 },
    { b: 2 },
    { c: [3] },
  ])
})

test('text is parsed as Kubernetes parses it', () => {
  assert.deepEqual(values('yes: on\nday: 2030-01-01\ntime: 12:30\noctal: 0777\nbig: 1e3\nnone: ~\n'), [
    { true: true, day: '2030-01-01', time: '12:30', octal: 511, big: 1000, none: null },
  ])
})

test('merge keys and anchors work', () => {
  assert.deepEqual(values('base: &b {x: 1}\nmore:\n  <<: *b\n  z: 2\n'), [
    { base: { x: 1 }, more: { x: 1, z: 2 } },
  ])
})

test('a syntax error has the line and column in the whole file', () => {
  const table: [string, RegExp][] = [
    ['a: 1\n---\nb: [1, 2\nc: 3\n', /^file\.yaml:[45]:\d+: /],
    ['a: 1\na: 2\n', /^file\.yaml:2:1: Map keys must be unique/],
    ['a: "unclosed\n', /^file\.yaml:\d+:\d+: /],
    ['a: \0\n', /^file\.yaml:1:4: a NUL byte/],
    ['a:\n  b: 1\n   c: 2\n', /^file\.yaml:2:6: .*; check the indentation of this line and the next/],
    ['a: b: c\n', /^file\.yaml:1:4: .*; .* quote values that contain ": "$/],
    ['a:\n  b: 1\n  c:2\n', /^file\.yaml:3:3: .*; expected "key: value" on this line/],
    ['a:\n  c:2\n  b: 1\n', /^file\.yaml:2:3: .*; expected "key: value" on this line/],
    ['\ta: 1\n', /^file\.yaml:1:1: /],
    ['{"a": 1,}}', /^file\.yaml:1:\d+: /],
  ]
  for (const [text, pattern] of table)
    assert.throws(
      () => parseManifests(text, 'file.yaml'),
      error => error instanceof CommandError && pattern.test(error.message),
      JSON.stringify(text),
    )
})

test('an alias bomb is rejected, and so is excessive nesting', () => {
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
    .split('')
    .map((key, at) => `${key}: &${key} [${Array(9).fill(`*${'abcdefg'[at]}`).join(',')}]`)
    .join('\n')}\n`
  assert.throws(() => values(bomb), CommandError)
  assert.throws(() => values('['.repeat(100_000)), /nested more than/)
  assert.throws(() => values(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`), /nested more than/)
  assert.throws(() => values(`${'- '.repeat(5_000)}x`), /nested more than/)
})

test('a field is found at its line, or at its nearest existing ancestor', () => {
  const [first, second] = parseManifests(
    'kind: A\n---\nspec:\n  cliques:\n    - name: x\n      spec:\n        replicas: -1\n',
    'f',
  )
  assert.deepEqual(second!.locate('spec.cliques[0].spec.replicas'), { line: 7, column: 9 })
  assert.deepEqual(second!.locate('spec.cliques[0].spec.missing.deeper')?.line, 6)
  assert.equal(first!.line, 1)
  const [dotted] = parseManifests('limits:\n  cpu: 1\n  nvidia.com/gpu: eight\n', 'f')
  assert.equal(dotted!.locate('limits.nvidia.com/gpu')?.line, 3)
  assert.equal(dotted!.locate('limits[nvidia.com/gpu]')?.line, 3)
  const [json] = parseManifests('{\n "spec": {\n  "replicas": 1}}', 'f')
  assert.deepEqual(json!.locate('spec.replicas')?.line, 3)
})

test('every text gives documents or a message, never another exception', () => {
  const pieces = fc.constantFrom(
    'a:',
    ' ',
    '\n',
    '- ',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    '---\n',
    '&x',
    '*x',
    '!!binary',
    '|',
    '>',
    '#',
    '%',
    ',',
    '1',
    'é',
    '\t',
    '? ',
    '<<: ',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(pieces, { maxLength: 40 }).map(parts => parts.join('')),
      ),
      text => {
        try {
          parseManifests(text, 'f')
        } catch (error) {
          assert.ok(error instanceof CommandError, String(error))
          assert.match(error.message, /^f:\d+/)
        }
      },
    ),
    { numRuns: 3000 },
  )
})
