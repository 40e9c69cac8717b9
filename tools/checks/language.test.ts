// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkLanguage } from './language.ts'
import { repository } from './repository.fixture.ts'

const check = (files: Record<string, string>, exceptions: Parameters<typeof checkLanguage>[2] = []) =>
  checkLanguage(repository(files), ['clean/**/*.{ts,md,yaml}'], exceptions)

test('reports replaced words in comments, strings and identifiers with file, line and replacement', () => {
  const problems = check({
    'clean/a.ts': [
      '// The operator tells its status.',
      "const message = 'the pod is on its way out'",
      'const isPodPlaced = true',
      'class World {}',
    ].join('\n'),
  })
  assert.deepEqual(problems, [
    'clean/a.ts:1: use report, record, emit or return instead of "tells"',
    'clean/a.ts:2: use terminating instead of "on its way out"',
    'clean/a.ts:3: use scheduled instead of "Placed"',
    'clean/a.ts:4: use caches or snapshot instead of "World"',
  ])
})

test('reports replaced words in file names and in Markdown and YAML files', () => {
  const problems = check({
    'clean/gang-story.ts': '',
    'clean/README.md': 'A set is built anew.',
    'clean/set.yaml': '# beside the other set',
  })
  assert.deepEqual(problems, [
    'clean/README.md:1: use recreate or again instead of "anew"',
    'clean/gang-story.ts: use scenario instead of "story"',
    'clean/set.yaml:1: use next to, in addition to or compared with instead of "beside"',
  ])
})

test('reports comments whose subject is a clause, but no questions', () => {
  const problems = check({
    'clean/a.ts':
      '/** Whether a pod is ready. */\n// Who owns this pod?\n// The operator knows what it does.\n',
  })
  assert.deepEqual(problems, ['clean/a.ts:1: use a noun as the subject of the sentence instead of "Whether"'])
})

test('accepts longer words, fixed texts and files that no pattern matches', () => {
  assert.deepEqual(
    check({
      'clean/a.ts':
        "const replaced = 'folder embedded lifecycle'\nawait Promise.allSettled([])\n// connection refused\n",
      'other/a.ts': '// told',
    }),
    [],
  )
})

test('an exception allows words in a file or folder', () => {
  const files = { 'clean/kwok/a.ts': '// stages of life', 'clean/b.ts': '// stages' }
  const exception = { path: 'clean/kwok', words: /^stages$/, why: 'KWOK' }
  assert.deepEqual(check(files, [exception]), [
    'clean/b.ts:1: use harness or fixture instead of "stages"',
    'clean/kwok/a.ts:1: use lifecycle, run or exists instead of "life"',
  ])
})

test('reports an exception that matches no word', () => {
  const exception = { path: 'clean/a.ts', words: /^stages$/, why: 'KWOK' }
  assert.deepEqual(check({ 'clean/a.ts': '// fixtures' }, [exception]), [
    'clean/a.ts: the exception for /^stages$/ is unused',
  ])
})
