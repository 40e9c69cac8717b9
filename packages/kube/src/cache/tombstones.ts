// SPDX-License-Identifier: Apache-2.0

import type { ObjectRef } from '../client/index.ts'
import { compareResourceVersions } from './resource-version.ts'

/** `gone`: the object no longer exists, so no state of it may be shown. `terminating`: it was told to go, so no state of
 * it may be shown without a deletionTimestamp. Both stay true for ever; they are kept only as long as they matter. */
export type Fate = 'gone' | 'terminating'

interface Tombstone {
  readonly fate: Fate
  /** Which list was the latest to begin when it was set. */
  readonly listsBegun: number
}

/** UIDs that are remembered after the watch has shown their deletion. The answer to a delete and its event come within
 * moments of each other, in either order. */
const rememberedUids = 4096

/** What our own deletes did, until the watch or a newer list has shown it, and how old a state of a name may be. */
export class Tombstones {
  readonly #open = new Map<string, Tombstone>()
  /** Oldest first; bounded. */
  readonly #closed = new Map<string, Tombstone>()
  /** Those of which the watch said that they went, or left the selection; oldest first; bounded. */
  readonly #departed = new Set<string>()
  readonly #floors = new Map<string, string>()

  /** How many wait for the watch to show them. */
  get open(): number {
    return this.#open.size
  }

  fateOf(uid: string): Fate | undefined {
    return this.#stoneOf(uid)?.fate
  }

  /** Sets a tombstone. `awaited` says whether an event is bound to come that ends it. */
  set(uid: string, fate: Fate, listsBegun: number, awaited: boolean): void {
    if (this.fateOf(uid) === 'gone') return
    const stone = { fate, listsBegun }
    if (awaited && !this.#departed.has(uid)) this.#open.set(uid, stone)
    else this.#close(uid, stone)
  }

  /** Takes back what turned out to be wrong, or needs no memory any more. */
  forget(uid: string): void {
    this.#open.delete(uid)
    this.#closed.delete(uid)
  }

  /** A list that began after the tombstone was set still has the object: then the delete did not do what we thought. */
  listed(uid: string, listsBegun: number): void {
    const stone = this.#stoneOf(uid)
    if (stone && stone.listsBegun < listsBegun) this.forget(uid)
  }

  /** A list is complete. Those set before it began have served. Those set since are remembered: of what the list did not
   * have no event need come, because it was gone before; or it was created after, and must not appear. */
  listComplete(listsBegun: number, seen: ReadonlySet<string>): void {
    for (const [uid, stone] of this.#open) {
      if (stone.listsBegun === listsBegun && seen.has(uid)) continue
      this.#open.delete(uid)
      if (stone.listsBegun === listsBegun) this.#close(uid, stone)
    }
  }

  /** The watch said that the object is gone, or has left the selection and may come back. */
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

  /** States of this name up to a moment are not to be shown: what we did to it is newer. */
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

  /** The watch or a list has shown everything up to a moment. */
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
