// SPDX-License-Identifier: Apache-2.0

import type { KubeObject, ObjectOf, WithMetadata } from '../object.ts'
import type { Change, ChangeReader } from './change-log.ts'
import type { StorageOf } from './storage-of.ts'

/** What a list saw: all objects of a range at one revision. */
export interface Snapshot<T = KubeObject> {
  readonly revision: number
  readonly items: readonly ObjectOf<T>[]
  /** The key of the first object that the limit cut off; undefined when the range is complete. */
  readonly next: string | undefined
  /** How many objects the limit cut off. */
  readonly remaining: number
}

export interface ListRange {
  /** Only keys that start so; the empty string for all. */
  readonly prefix: string
  /** The first key of the page. */
  readonly start?: string
  readonly limit?: number
  /** The moment to look at; the present when absent. */
  readonly revision?: number
  /** What does not match neither appears nor counts towards the limit. */
  readonly matches?: (object: KubeObject) => boolean
}

/**
 * Objects with one revision counter over all of them. Every write is one step of that counter, compares with what
 * the writer saw, and appears to readers and watches in the same order. Not promised: history beyond the window.
 */
export interface Store {
  /** The revision of the last write. */
  readonly revision: number
  get<T>(resource: StorageOf<T>, key: string): ObjectOf<T> | undefined
  get(resource: string, key: string): KubeObject | undefined
  count(resource: string): number
  /** Throws ChangesForgotten when the asked revision has left the window. */
  list<T>(resource: StorageOf<T>, range: ListRange): Snapshot<T>
  list(resource: string, range: ListRange): Snapshot
  /**
   * Replaces what `expected` was read as (undefined: nothing) by the draft, which gets its resourceVersion and is
   * frozen. False when someone else wrote in between; then nothing has happened.
   */
  write(
    resource: string,
    key: string,
    draft: KubeObject | WithMetadata,
    expected: WithMetadata | undefined,
  ): boolean
  /** Removes the object if it is still `expected`; returns its last state, with the revision of the removal. */
  remove(resource: string, key: string, expected: WithMetadata): KubeObject | undefined
  /** Reads changes after `revision`; throws ChangesForgotten when they are no longer held. */
  watch(resource: string, revision: number, wake: () => void): ChangeReader
  /** Calls back after each commit, in order, before the writer goes on. Returns how to stop. */
  observe(observer: (change: Change) => void): () => void
  /** Forgets the history up to a revision. */
  compact(revision: number): void
  close(): void
}
