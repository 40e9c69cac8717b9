// SPDX-License-Identifier: Apache-2.0

export { type Change, type ChangeReader, ChangesForgotten } from './change-log.ts'
export type { Journal, JournalEntry } from './journal.ts'
export { MemoryStore, type MemoryStoreOptions } from './memory-store.ts'
export { restrictToOwner } from './private-file.ts'
export { openSqliteJournal } from './sqlite-journal.ts'
export { objectIn, type StorageOf, storageOf } from './storage-of.ts'
export type { ListRange, Snapshot, Store } from './store.ts'
