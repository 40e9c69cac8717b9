// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkDeclared } from './declared.ts'
import { checkImports } from './imports.ts'
import { checkLockFile } from './lock-file.ts'
import { repository } from './repository.fixture.ts'

test('a package must declare its imports; its tests may use the tools of the repository', () => {
  const root = repository({
    'package.json': { devDependencies: { 'fast-check': '1' } },
    'packages/a/package.json': { name: '@grove/a', dependencies: { undici: '1', '@scope/b': '1' } },
    'packages/a/src/fine.ts':
      "import { x } from 'undici'\nimport type { y } from '@scope/b/part'\nimport './other.ts'\nimport 'node:fs'\n",
    'packages/a/src/wrong.ts': "import { parse } from 'yaml'\nexport * from 'fast-check'\n",
    'packages/a/src/late.ts': "const z = await import('@other/c')\n",
    'packages/a/src/fine.test.ts':
      "import fc from 'fast-check'\nimport { k } from '@grove/test-kubernetes'\n",
    'packages/a/src/wrong.test.ts': "import { parse } from 'yaml'\n",
  })
  assert.deepEqual(checkDeclared(root).sort(), [
    'packages/a/src/late.ts: imports @other/c, which packages/a/package.json does not declare',
    'packages/a/src/wrong.test.ts: imports yaml, which packages/a/package.json does not declare',
    'packages/a/src/wrong.ts: imports fast-check, which packages/a/package.json does not declare',
    'packages/a/src/wrong.ts: imports yaml, which packages/a/package.json does not declare',
  ])
})

test('production code does not import test support', () => {
  const root = repository({
    'packages/kube/src/testing/fake.ts': "import '../real.ts'\n",
    'packages/kube/src/real.test.ts': "import './testing/fake.ts'\n",
    'packages/kube/src/old.fixture.ts': "import './testing/fake.ts'\n",
    'packages/kube/bench/real.bench.ts': "import '../src/testing/fake.ts'\n",
    'packages/kube/src/real.ts': "import './testing/fake.ts'\nexport * from './old.fixture.ts'\n",
  })
  const problem = (target: string) =>
    `packages/kube/src/real.ts: imports ${target}, which is test support; production code must not use it`
  assert.deepEqual(checkImports(root).sort(), ['./old.fixture.ts', './testing/fake.ts'].map(problem))
})

test('every installed package must have a checksum and no install script', () => {
  const lock = (packages: object) =>
    repository({ '.npmrc': 'ignore-scripts=true\n', 'package-lock.json': { packages } })
  const fine = {
    '': { name: 'grove' },
    'packages/a': { name: '@grove/a' },
    'node_modules/@grove/a': { resolved: 'packages/a', link: true },
    'node_modules/b': { version: '1.0.0', integrity: 'sha512-abc' },
  }
  assert.deepEqual(checkLockFile(lock(fine)), [])
  assert.deepEqual(checkLockFile(lock({ ...fine, 'node_modules/c': { version: '1.0.0' } })), [
    'package-lock.json: node_modules/c has no sha512 checksum',
  ])
  const scripted = { integrity: 'sha512-abc', hasInstallScript: true }
  assert.deepEqual(checkLockFile(lock({ ...fine, 'packages/a/node_modules/d': scripted })), [
    'package-lock.json: packages/a/node_modules/d has an install script',
  ])
  const open = repository({ '.npmrc': 'fund=false\n', 'package-lock.json': { packages: fine } })
  assert.deepEqual(checkLockFile(open), ['.npmrc: ignore-scripts=true is missing'])
})
