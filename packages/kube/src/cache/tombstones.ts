// SPDX-License-Identifier: Apache-2.0

import type { ObjectRef } from '../client/index.ts'
import { compareResourceVersions } from './resource-version.ts'

/**
 * `gone`: the object no longer exists, so no state of it may be shown. `terminating`: it was deleted, so no state of
 * it may be shown without a deletionTimestamp. Both stay true for ever; tombstones are kept only as long as they
 * matter.
 */
export type Fate = 'gone' | 'terminating'

interface Tombstone {
  readonly fate: Fate
  /** The number of lists that had begun when the tombstone was set. */
  readonly listsBegun: number
}

/**
 * Limit of UIDs that are remembered after the watch has shown their deletion. The response to a delete and its event
 * arrive within moments of each other, in either order. Each cache fills up to this limit and stays there, so it is
 * part of the memory that an operator needs after thousands of deleted sets.
 */
const rememberedUids = 1024

/**
 * The effects of own deletes, until the watch or a newer list has shown them. Also the oldest state of a name that
 * may be shown.
 */
export class Tombstones {
  readonly #open = new Map<string, Tombstone>()
  /** Oldest first; bounded. */
  readonly #closed = new Map<string, Tombstone>()
  /** UIDs that the watch reported as deleted or as no longer selected; oldest first; bounded. */
  readonly #departed = new Set<string>()
  readonly #floors = new Map<string, string>()

  /** The number of tombstones that the watch has not shown yet. */
  get open(): number {
    return this.#open.size
  }

  fateOf(uid: string): Fate | undefined {
    return this.#stoneOf(uid)?.fate
  }

  /** Sets a tombstone. `awaited` reports whether an event will arrive that ends it. */
  set(uid: string, fate: Fate, listsBegun: number, awaited: boolean): void {
    if (this.fateOf(uid) === 'gone') return
    const stone = { fate, listsBegun }
    if (awaited && !this.#departed.has(uid)) this.#open.set(uid, stone)
    else this.#close(uid, stone)
  }

  /** Removes a tombstone that turned out to be wrong or is no longer needed. */
  forget(uid: string): void {
    this.#open.delete(uid)
    this.#closed.delete(uid)
  }

  /**
   * A list that began after the tombstone was set still contains the object: the delete had another effect than
   * assumed.
   */
  listed(uid: string, listsBegun: number): void {
    const stone = this.#stoneOf(uid)
    if (stone && stone.listsBegun < listsBegun) this.forget(uid)
  }

  /**
   * A list is complete. Tombstones from before its start are removed. Later ones are kept without waiting for an
   * event: the object may have been deleted before the list, so no event comes. Or it was created after the list, and
   * must not appear.
   */
  listComplete(listsBegun: number, seen: ReadonlySet<string>): void {
    for (const [uid, stone] of this.#open) {
      if (stone.listsBegun === listsBegun && seen.has(uid)) continue
      this.#open.delete(uid)
      if (stone.listsBegun === listsBegun) this.#close(uid, stone)
    }
  }

  /** The watch reported that the object is deleted, or has left the selection and may return. */
  departed(uid: string): void {
    const stone = this.#open.get(uid)
    if (stone) {
      this.#open.delete(uid)
      this.#close(uid, stone)
    }
    addBounded(this.#departed, uid)
  }

  arrived(uid: string): void {
    this.#departed.delete(uid)
  }

  /** Hides states of this name up to a resourceVersion, because an own write is newer. */
  setFloor(ref: ObjectRef, resourceVersion: string): void {
    const key = keyOf(ref)
    const floor = this.#floors.get(key)
    if (floor === undefined || compareResourceVersions(floor, resourceVersion) < 0)
      this.#floors.set(key, resourceVersion)
  }

  isBelowFloor(ref: ObjectRef, resourceVersion: string): boolean {
    if (this.#floors.size === 0) return false
    const floor = this.#floors.get(keyOf(ref))
    return floor !== undefined && compareResourceVersions(resourceVersion, floor) <= 0
  }

  /** The watch or a list has shown everything up to a resourceVersion. */
  reached(resourceVersion: string): void {
    for (const [key, floor] of this.#floors)
      if (compareResourceVersions(floor, resourceVersion) <= 0) this.#floors.delete(key)
  }

  clear(): void {
    for (const each of [this.#open, this.#closed, this.#departed, this.#floors]) each.clear()
  }

  #stoneOf(uid: string): Tombstone | undefined {
    return this.#open.get(uid) ?? this.#closed.get(uid)
  }

  #close(uid: string, stone: Tombstone): void {
    this.#closed.delete(uid)
    this.#closed.set(uid, stone)
    if (this.#closed.size > rememberedUids) this.#closed.delete(this.#closed.keys().next().value!)
  }
}

function addBounded(set: Set<string>, uid: string): void {
  set.delete(uid)
  set.add(uid)
  if (set.size > rememberedUids) set.delete(set.values().next().value!)
}

function keyOf(ref: ObjectRef): string {
  return `${ref.namespace ?? ''}/${ref.name}`
}
