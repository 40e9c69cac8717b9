// SPDX-License-Identifier: Apache-2.0

import type { KubeObject, ObjectOf, WithMetadata } from '../object.ts'
import type { Change, ChangeReader } from './change-log.ts'
import type { StorageOf } from './storage-of.ts'

/** The result of a list: all objects of a range at one revision. */
export interface Snapshot<T = KubeObject> {
  readonly revision: number
  readonly items: readonly ObjectOf<T>[]
  /** The key of the first object beyond the limit; undefined when the range is complete. */
  readonly next: string | undefined
  /** The number of objects beyond the limit. */
  readonly remaining: number
}

export interface ListRange {
  /** The prefix of the keys; empty for all. */
  readonly prefix: string
  /** The first key of the page. */
  readonly start?: string
  readonly limit?: number
  /** The revision to read; default: the current one. */
  readonly revision?: number
  /** Objects that do not match are omitted and do not count towards the limit. */
  readonly matches?: (object: KubeObject) => boolean
}

/**
 * Objects with one revision counter across all resources. Every write increments the counter and compares
 * with the object that the writer saw. Readers and watches see writes in the same order. Not promised:
 * history beyond the window.
 */
export interface Store {
  /** The revision of the last write. */
  readonly revision: number
  get<T>(resource: StorageOf<T>, key: string): ObjectOf<T> | undefined
  get(resource: string, key: string): KubeObject | undefined
  count(resource: string): number
  /** Throws ChangesForgotten if the revision has left the window. */
  list<T>(resource: StorageOf<T>, range: ListRange): Snapshot<T>
  list(resource: string, range: ListRange): Snapshot
  /**
   * Replaces `expected` (undefined: no object) by the draft, sets its resourceVersion and freezes it. Returns
   * false and changes nothing if another client wrote in between.
   */
  write(
    resource: string,
    key: string,
    draft: KubeObject | WithMetadata,
    expected: WithMetadata | undefined,
  ): boolean
  /**
   * Removes the object if it is still `expected`. Returns its last state, with the revision of the removal.
   */
  remove(resource: string, key: string, expected: WithMetadata): KubeObject | undefined
  /** Reads the changes after `revision`. Throws ChangesForgotten if they were dropped. */
  watch(resource: string, revision: number, notify: () => void): ChangeReader
  /**
   * Calls the observer after each commit, in order, before the write returns. Returns a function that stops
   * it.
   */
  observe(observer: (change: Change) => void): () => void
  /** Drops the history up to a revision. */
  compact(revision: number): void
  close(): void
}
