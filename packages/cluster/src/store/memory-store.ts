// SPDX-License-Identifier: Apache-2.0

import { deepFreeze, type KubeObject, type ObjectOf, type WithMetadata } from '../object.ts'
import { type Change, ChangeLog, type ChangeReader, ChangesForgotten } from './change-log.ts'
import { Collection } from './collection.ts'
import type { Journal } from './journal.ts'
import type { StorageOf } from './storage-of.ts'
import type { ListRange, Snapshot, Store } from './store.ts'

/** Changes kept per resource. A watch that is further behind starts over with a list, as on a real server. */
const defaultWindow = 10_000

/** Clients read revision 0 as "any version", so an empty store starts at 1. */
const firstRevision = 1

export interface MemoryStoreOptions {
  readonly window?: number
  readonly journal?: Journal
}

/** Keeps all objects in memory and optionally writes them to a journal. */
export class MemoryStore implements Store {
  readonly #window: number
  readonly #journal: Journal | undefined
  readonly #collections = new Map<string, Collection>()
  readonly #logs = new Map<string, ChangeLog>()
  readonly #observers = new Set<(change: Change) => void>()
  #revision = firstRevision
  /** The history up to this revision is gone for all resources. */
  #floor = 0

  constructor(options: MemoryStoreOptions = {}) {
    this.#window = options.window ?? defaultWindow
    this.#journal = options.journal
    if (this.#journal) this.#restore(this.#journal)
  }

  get revision(): number {
    return this.#revision
  }

  get<T>(resource: StorageOf<T>, key: string): ObjectOf<T> | undefined
  get(resource: string, key: string): KubeObject | undefined
  get(resource: string, key: string): KubeObject | undefined {
    return this.#collections.get(resource)?.get(key)
  }

  count(resource: string): number {
    return this.#collections.get(resource)?.size ?? 0
  }

  list<T>(resource: StorageOf<T>, range: ListRange): Snapshot<T>
  list(resource: string, range: ListRange): Snapshot
  list(resource: string, range: ListRange): Snapshot {
    const revision = range.revision ?? this.#revision
    const limit = range.limit ?? Number.POSITIVE_INFINITY
    const items: KubeObject[] = []
    let next: string | undefined
    let remaining = 0
    for (const [key, object] of this.#rangeAt(resource, range, revision)) {
      if (range.matches && !range.matches(object)) continue
      if (items.length < limit) items.push(object)
      else {
        next ??= key
        remaining++
      }
    }
    return { revision, items, next, remaining }
  }

  write(
    resource: string,
    key: string,
    object: KubeObject | WithMetadata,
    expected: WithMetadata | undefined,
  ): boolean {
    const draft = object as KubeObject
    const collection = this.#collection(resource)
    const previous = collection.get(key)
    if (previous !== expected) return false
    const revision = this.#revision + 1
    draft.metadata.resourceVersion = String(revision)
    deepFreeze(draft)
    this.#journal?.append({ resource, key, revision, object: draft })
    this.#revision = revision
    collection.set(key, draft)
    this.#publish({ type: previous ? 'MODIFIED' : 'ADDED', revision, resource, key, object: draft, previous })
    return true
  }

  remove(resource: string, key: string, object: WithMetadata): KubeObject | undefined {
    const collection = this.#collection(resource)
    const expected = collection.get(key)
    if (!expected || expected !== object) return undefined
    const revision = this.#revision + 1
    const last = { ...expected, metadata: { ...expected.metadata, resourceVersion: String(revision) } }
    deepFreeze(last)
    this.#journal?.append({ resource, key, revision, object: undefined })
    this.#revision = revision
    collection.delete(key)
    this.#publish({ type: 'DELETED', revision, resource, key, object: last, previous: expected })
    return last
  }

  watch(resource: string, revision: number, notify: () => void): ChangeReader {
    return this.#log(resource).read(revision, notify)
  }

  observe(observer: (change: Change) => void): () => void {
    this.#observers.add(observer)
    return () => this.#observers.delete(observer)
  }

  compact(revision: number): void {
    this.#floor = Math.max(this.#floor, revision)
    for (const log of this.#logs.values()) log.compact(revision)
  }

  close(): void {
    this.#journal?.close()
  }

  #publish(change: Change): void {
    this.#log(change.resource).append(change)
    for (const observer of this.#observers) observer(change)
  }

  /** Returns the objects of a range at a revision: the current objects with later changes reverted. */
  #rangeAt(resource: string, range: ListRange, revision: number): Iterable<readonly [string, KubeObject]> {
    const present = this.#collection(resource)
    const start = range.start ?? ''
    if (revision >= this.#revision) return present.range(range.prefix, start)
    const later = this.#log(resource).since(revision)
    if (!later) throw new ChangesForgotten(revision, this.#log(resource).floor)
    if (later.length === 0) return present.range(range.prefix, start)
    const past = new Map(present.range(range.prefix, start))
    for (const change of later) {
      if (!change.key.startsWith(range.prefix) || change.key < start) continue
      if (change.previous) past.set(change.key, change.previous)
      else past.delete(change.key)
    }
    return [...past].sort(([a], [b]) => (a < b ? -1 : 1))
  }

  #collection(resource: string): Collection {
    let collection = this.#collections.get(resource)
    if (!collection) {
      collection = new Collection()
      this.#collections.set(resource, collection)
    }
    return collection
  }

  #log(resource: string): ChangeLog {
    let log = this.#logs.get(resource)
    if (!log) {
      log = new ChangeLog(this.#window, this.#floor)
      this.#logs.set(resource, log)
    }
    return log
  }

  #restore(journal: Journal): void {
    const { revision, entries } = journal.load()
    for (const { resource, key, object } of entries) this.#collection(resource).set(key, deepFreeze(object))
    if (revision === 0) return
    this.#revision = revision
    this.#floor = revision
  }
}
