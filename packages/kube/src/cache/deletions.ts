// SPDX-License-Identifier: Apache-2.0

import { compareResourceVersions } from './resource-version.ts'

/** What we know of an object that we deleted, or moved out of a selection, before the watch says so. */
export interface DeletionNote {
  /** `gone`: it must not be seen again. `left`: it must not be seen as it was up to `upTo`. `terminating`: it may be
   * seen, but only with a deletionTimestamp. */
  readonly kind: 'gone' | 'left' | 'terminating'
  /** When it happened, if the server told. */
  readonly upTo?: string
  /** Which list was the latest to begin when it was noted. */
  readonly listsBegun: number
}

/** Deletions confirmed by the watch that are remembered. The answer to a delete comes within moments of the event, in
 * either order; a note made for an event that has long passed would stay until the next list. */
const rememberedConfirmations = 4096

/** Tombstones by UID: what our own deletes did, kept exactly until the watch or a newer list has shown it. */
export class Deletions {
  readonly #noted = new Map<string, DeletionNote>()
  readonly #confirmed = new Set<string>()

  get size(): number {
    return this.#noted.size
  }

  get(uid: string): DeletionNote | undefined {
    return this.#noted.get(uid)
  }

  note(uid: string, deletion: DeletionNote): void {
    if (!this.#confirmed.has(uid)) this.#noted.set(uid, deletion)
  }

  forget(uid: string): void {
    this.#noted.delete(uid)
  }

  /** The watch has shown that it is gone. */
  confirm(uid: string): void {
    this.#noted.delete(uid)
    this.#confirmed.add(uid)
    if (this.#confirmed.size > rememberedConfirmations)
      this.#confirmed.delete(this.#confirmed.values().next().value!)
  }

  /** The object is there (again: one that left a selection may come back). */
  seen(uid: string): void {
    this.#confirmed.delete(uid)
  }

  /** The watch has shown everything up to a moment. */
  reached(resourceVersion: string): void {
    for (const [uid, { upTo }] of this.#noted)
      if (upTo !== undefined && compareResourceVersions(upTo, resourceVersion) <= 0) this.#noted.delete(uid)
  }

  /** A list is complete: what was noted before it began is in it. */
  listed(listsBegun: number): void {
    for (const [uid, deletion] of this.#noted) if (deletion.listsBegun < listsBegun) this.#noted.delete(uid)
  }

  clear(): void {
    this.#noted.clear()
    this.#confirmed.clear()
  }
}
