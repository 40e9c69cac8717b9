// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, it } from 'node:test'
import { ChangesForgotten } from './change-log.ts'
import { MemoryStore } from './memory-store.ts'
import { openSqliteJournal } from './sqlite-journal.ts'

const folder = mkdtempSync(join(tmpdir(), 'grove-journal-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const open = (name: string) => new MemoryStore({ journal: openSqliteJournal(join(folder, name)) })

/** Returns the permissions of all files with this prefix. */
function modes(prefix: string): Record<string, number> {
  const names = readdirSync(folder).filter(name => name.startsWith(prefix))
  return Object.fromEntries(names.sort().map(name => [name, statSync(join(folder, name)).mode & 0o777]))
}

describe('the journal', () => {
  it('restores every object and the revision', () => {
    const store = open('restart')
    store.write('things', 'a', { metadata: { name: 'a' }, value: 1 }, undefined)
    store.write('things', 'b', { metadata: { name: 'b' } }, undefined)
    store.write('things', 'a', { metadata: { name: 'a' }, value: 2 }, store.get('things', 'a'))
    store.remove('things', 'b', store.get('things', 'b')!)
    const { revision } = store
    store.close()

    const again = open('restart')
    assert.equal(again.revision, revision)
    assert.equal(again.get('things', 'a')?.value, 2)
    assert.equal(again.get('things', 'b'), undefined)
    assert.throws(() => again.watch('things', revision - 1, () => {}), ChangesForgotten)
    again.write('things', 'c', { metadata: { name: 'c' } }, undefined)
    assert.equal(again.get('things', 'c')?.metadata.resourceVersion, String(revision + 1))
    again.close()
  })

  it('creates files that only their owner can read', () => {
    const umask = process.umask(0)
    try {
      const store = open('private')
      store.write('things', 'a', { metadata: { name: 'a' } }, undefined)
      assert.deepEqual(modes('private'), { private: 0o600, 'private-wal': 0o600 })
      // File permissions of an earlier version.
      copyFileSync(join(folder, 'private'), join(folder, 'wide'))
      copyFileSync(join(folder, 'private-wal'), join(folder, 'wide-wal'))
      store.close()
      for (const name of ['wide', 'wide-wal']) chmodSync(join(folder, name), 0o644)
      const wide = open('wide')
      assert.ok(wide.get('things', 'a'))
      assert.deepEqual(new Set(Object.values(modes('wide'))), new Set([0o600]))
      wide.close()
    } finally {
      process.umask(umask)
    }
  })

  it('keeps all acknowledged writes when the process is killed', async () => {
    const path = join(folder, 'killed')
    const script = `
      import { MemoryStore } from '${new URL('./memory-store.ts', import.meta.url).href}'
      import { openSqliteJournal } from '${new URL('./sqlite-journal.ts', import.meta.url).href}'
      const store = new MemoryStore({ journal: openSqliteJournal(${JSON.stringify(path)}) })
      for (let i = 0; i < 10000; i++) {
        store.write('things', 'k' + i, { metadata: { name: 'k' + i } }, undefined)
        if (i % 100 === 99) await new Promise(resolve => process.stdout.write(i + '\\n', resolve))
      }
      setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--input-type=module-typescript', '--no-warnings', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let acknowledged = -1
    for await (const chunk of child.stdout) {
      acknowledged = Number(String(chunk).trim().split('\n').at(-1))
      if (acknowledged >= 3000) break
    }
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    const store = open('killed')
    for (let index = 0; index <= acknowledged; index++)
      assert.ok(store.get('things', `k${index}`), `k${index}`)
    store.close()
  })

  it('rejects a file of another format', () => {
    const path = join(folder, 'future')
    openSqliteJournal(path).close()
    const database = new DatabaseSync(path)
    database.exec('PRAGMA user_version = 99')
    database.close()
    assert.throws(() => openSqliteJournal(path), /has the format 99, this program reads 1/)
  })
})
