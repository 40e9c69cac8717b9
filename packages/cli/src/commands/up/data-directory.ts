// SPDX-License-Identifier: Apache-2.0

import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryStore, openSqliteJournal, restrictToOwner } from '@grove/cluster'
import { CommandError } from '../../command-error.ts'

const databaseName = 'cluster.db'

/** Opens the persistent store of a cluster, `cluster.db` in the folder. Other users can read neither. */
export function openDataDirectory(folder: string): MemoryStore {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // A folder that the user shares with other files keeps its permissions: those of the database suffice.
    if (readdirSync(folder).every(name => name.startsWith(databaseName))) restrictToOwner(folder)
    return new MemoryStore({ journal: openSqliteJournal(join(folder, databaseName)) })
  } catch (error) {
    throw new CommandError(`--data ${folder}: ${explain(error, folder)}`)
  }
}

function explain(error: unknown, folder: string): string {
  const text = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EEXIST' || code === 'ENOTDIR') return 'it is not a folder'
  if (code === 'EPERM') return 'it belongs to another user; use a folder of your own'
  if (code === 'EACCES' || code === 'EROFS' || /unable to open/.test(text)) return 'it is not writable'
  if (/locked/.test(text)) return 'another `grove up` uses it; stop that one, or use another folder'
  if (/not a database|malformed|JSON/.test(text))
    return `cluster.db is damaged (${text}); restore it from a backup, or remove ${folder} to start with an empty cluster`
  return text
}
