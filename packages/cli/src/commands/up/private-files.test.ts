// SPDX-License-Identifier: Apache-2.0

// Tests that only their user can read files with keys and Secrets.
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, beforeEach, test } from 'node:test'
import { openDataDirectory } from './data-directory.ts'
import { writeKubeconfig } from './kubeconfig-file.ts'

const root = mkdtempSync(join(tmpdir(), 'grove-private-'))
after(() => rmSync(root, { recursive: true, force: true }))

let umask = 0
beforeEach(() => {
  umask = process.umask(0o022)
})
afterEach(() => {
  process.umask(umask)
})

const modeOf = (...path: string[]) => (statSync(join(root, ...path)).mode & 0o777).toString(8)

test('a data folder and its database are private from their creation on', () => {
  openDataDirectory(join(root, 'a', 'new')).close()
  assert.deepEqual([modeOf('a', 'new'), modeOf('a', 'new', 'cluster.db')], ['700', '600'])
})

test('a data folder of an earlier version becomes private', () => {
  openDataDirectory(join(root, 'old')).close()
  chmodSync(join(root, 'old'), 0o755)
  chmodSync(join(root, 'old', 'cluster.db'), 0o644)
  openDataDirectory(join(root, 'old')).close()
  assert.deepEqual([modeOf('old'), modeOf('old', 'cluster.db')], ['700', '600'])
})

test('a folder with other files keeps its permissions, and the database is private', () => {
  mkdirSync(join(root, 'shared'))
  writeFileSync(join(root, 'shared', 'notes.txt'), '')
  openDataDirectory(join(root, 'shared')).close()
  assert.deepEqual([modeOf('shared'), modeOf('shared', 'cluster.db')], ['755', '600'])
})

test('a kubeconfig is private, even if it replaces a file that was not', () => {
  mkdirSync(join(root, 'run'))
  writeFileSync(join(root, 'mine'), 'old')
  writeKubeconfig('text', join(root, 'run'), join(root, 'mine'))
  assert.deepEqual([modeOf('run', 'kubeconfig'), modeOf('mine')], ['600', '600'])
})
