// SPDX-License-Identifier: Apache-2.0

import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryStore, openSqliteJournal, restrictToOwner } from '@grove/cluster'
import { CommandError } from '../../command-error.ts'

const databaseName = 'cluster.db'

/** The objects of a cluster that outlive the process, in `cluster.db` of the folder. Other users may read neither. */
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
  if (code === 'EPERM') return 'it belongs to another user; name a folder of your own'
  if (code === 'EACCES' || code === 'EROFS' || /unable to open/.test(text)) return 'it may not be written'
  if (/locked/.test(text)) return 'another `grove up` uses it; end that one, or name another folder'
  if (/not a database|malformed|JSON/.test(text))
    return `cluster.db is damaged (${text}); restore it from a copy, or remove ${folder} to begin anew`
  return text
}
