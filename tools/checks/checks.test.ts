// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { checkDeclared } from './declared.ts'
import { checkFolderCycles } from './imports.ts'
import { checkLockFile } from './lock-file.ts'

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A repository of these files. */
function repository(files: Record<string, string | object>): string {
  const root = mkdtempSync(join(tmpdir(), 'grove-checks-'))
  folders.push(root)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return root
}

test('a package declares what it imports; its tests may use the tools of the repository', () => {
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

test('everything that is installed has a checksum and no install script', () => {
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

test('folders of the operator must not import each other in circles; types count, tests and root files do not', () => {
  const layered = {
    'packages/operator/src/main.ts': "import './high/a.ts'\n",
    'packages/operator/src/context.ts': "import type { L } from './low/l.ts'\n",
    'packages/operator/src/high/a.ts': "import { l } from '../low/l.ts'\nimport '../context.ts'\n",
    'packages/operator/src/low/l.ts': "import { k } from './k.ts'\n",
    'packages/operator/src/low/l.test.ts': "import { a } from '../high/a.ts'\n",
    'packages/operator/src/testing/t.ts': "import { a } from '../high/a.ts'\n",
  }
  assert.deepEqual(checkFolderCycles(repository(layered)), [])
  const circular = {
    ...layered,
    'packages/operator/src/low/k.ts': "import type { A } from '../high/a.ts'\n",
  }
  assert.deepEqual(checkFolderCycles(repository(circular)), [
    'packages/operator/src: folders import each other in a circle: context.ts → low → high → context.ts (context.ts imports low/l.ts; low/k.ts imports high/a.ts; high/a.ts imports context.ts)',
    'packages/operator/src: folders import each other in a circle: high → low → high (high/a.ts imports low/l.ts; low/k.ts imports high/a.ts)',
  ])
})
