// SPDX-License-Identifier: Apache-2.0

import { closeSync, existsSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { KubeObject } from '../object.ts'
import type { Journal, JournalEntry } from './journal.ts'
import { restrictToOwner } from './private-file.ts'

/** Incremented when the tables change. A file of another version is rejected. */
const formatVersion = 1

/**
 * Stores the current objects in one SQLite file. Each write is a transaction in the write-ahead log before it
 * is acknowledged, so a killed process loses nothing. `synchronous = NORMAL` does not flush to disk: a power
 * failure may lose the last writes, but the file stays consistent. The file contains Secrets and the token
 * signing key, so only its owner may read it.
 */
export function openSqliteJournal(path: string): Journal {
  makePrivate(path)
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA locking_mode = EXCLUSIVE')
  prepareTables(database, path)
  const put = database.prepare(
    'INSERT OR REPLACE INTO objects (resource, key, revision, json) VALUES (?, ?, ?, ?)',
  )
  const remove = database.prepare('DELETE FROM objects WHERE resource = ? AND key = ?')
  const setRevision = database.prepare('UPDATE state SET revision = ?')
  return {
    load() {
      const { revision } = database.prepare('SELECT revision FROM state').get() as { revision: number }
      return { revision, entries: readEntries(database) }
    },
    append({ resource, key, revision, object }) {
      if (object) {
        put.run(resource, key, revision, JSON.stringify(object))
        return
      }
      // No row has the revision of a removal. Without the counter a restart would assign it again.
      database.exec('BEGIN')
      remove.run(resource, key)
      setRevision.run(revision)
      database.exec('COMMIT')
    },
    close: () => database.close(),
  }
}

/** SQLite creates further files with the permissions of the first one. */
function makePrivate(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
  for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}-journal`])
    if (existsSync(file)) restrictToOwner(file)
}

function prepareTables(database: DatabaseSync, path: string): void {
  const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number }
  if (version !== 0 && version !== formatVersion)
    throw new Error(
      `${path} has the format ${version}, this program reads ${formatVersion}; start with an empty file`,
    )
  database.exec(`
    CREATE TABLE IF NOT EXISTS objects (
      resource TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, json TEXT NOT NULL,
      PRIMARY KEY (resource, key)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS state (revision INTEGER NOT NULL);
    INSERT INTO state SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM state);
    UPDATE state SET revision = max(revision, (SELECT coalesce(max(revision), 0) FROM objects));
    PRAGMA user_version = ${formatVersion};
  `)
}

function* readEntries(database: DatabaseSync): Iterable<JournalEntry> {
  for (const row of database
    .prepare('SELECT resource, key, json FROM objects ORDER BY resource, key')
    .iterate()) {
    const { resource, key, json } = row as { resource: string; key: string; json: string }
    yield { resource, key, object: JSON.parse(json) as KubeObject }
  }
}
