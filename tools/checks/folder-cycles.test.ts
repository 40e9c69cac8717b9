// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkFolderCycles } from './folder-cycles.ts'
import { repository } from './repository.fixture.ts'

const imports = (...targets: string[]) => targets.map(target => `import { x } from '${target}'\n`).join('')

const check = (files: Record<string, string>) => checkFolderCycles(repository(files), ['packages/a'])

test('reports a cycle of folders with an example of each import', () => {
  assert.deepEqual(
    check({
      'packages/a/src/one/a.ts': imports('../two/b.ts'),
      'packages/a/src/two/b.ts': imports('../three/c.ts', 'node:fs'),
      'packages/a/src/three/c.ts': imports('../one/d.ts'),
      'packages/a/src/one/d.ts': imports('./a.ts'),
    }),
    [
      'packages/a/src: folders import each other: one → two → three → one ' +
        '(one/a.ts imports two/b.ts; two/b.ts imports three/c.ts; three/c.ts imports one/d.ts)',
    ],
  )
})

test('a file next to the folders is a folder of its own', () => {
  const files = {
    'packages/a/src/index.ts': imports('./one/a.ts'),
    'packages/a/src/shared.ts': '',
    'packages/a/src/one/a.ts': imports('../shared.ts'),
  }
  assert.deepEqual(check(files), [])
  assert.deepEqual(check({ ...files, 'packages/a/src/shared.ts': imports('./one/deep/b.ts') }), [
    'packages/a/src: folders import each other: one → shared.ts → one ' +
      '(one/a.ts imports shared.ts; shared.ts imports one/deep/b.ts)',
  ])
})

test('tests and test support may import every folder', () => {
  assert.deepEqual(
    check({
      'packages/a/src/one/a.ts': imports('../two/b.ts'),
      'packages/a/src/two/b.test.ts': imports('../one/a.ts'),
      'packages/a/src/two/c.fixture.ts': imports('../one/a.ts'),
      'packages/a/src/two/testing/d.ts': imports('../../one/a.ts'),
    }),
    [],
  )
})

test('reports two independent cycles separately, and only for listed packages', () => {
  const problems = check({
    'packages/a/src/one/a.ts': imports('../two/b.ts'),
    'packages/a/src/two/b.ts': imports('../one/a.ts'),
    'packages/a/src/three/c.ts': imports('../four/d.ts'),
    'packages/a/src/four/d.ts': imports('../three/c.ts'),
    'packages/b/src/one/a.ts': imports('../two/b.ts'),
    'packages/b/src/two/b.ts': imports('../one/a.ts'),
  })
  assert.equal(problems.length, 2)
  assert.match(problems[0]!, /four → three → four/)
  assert.match(problems[1]!, /one → two → one/)
})
