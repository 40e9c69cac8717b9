// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../object.ts'

/**
 * One committed write. `previous` is the object that the key held before. A watch with a selector needs it.
 */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly revision: number
  readonly resource: string
  readonly key: string
  readonly object: KubeObject
  readonly previous: KubeObject | undefined
}

/** The requested changes have left the log. */
export class ChangesForgotten extends Error {
  readonly oldest: number
  readonly asked: number
  constructor(asked: number, oldest: number) {
    super(`too old resource version: ${asked} (${oldest})`)
    this.asked = asked
    this.oldest = oldest
  }
}

/**
 * The last changes of one resource, in order. All watches share the log, each with its own position. A change
 * costs one entry for any number of watches. A slow reader costs nothing until it falls out of the window.
 */
export class ChangeLog {
  readonly #window: number
  #changes: Change[] = []
  /** The number of changes that have left the log. Positions count from the very first change. */
  #dropped = 0
  /** Changes up to this revision are gone. */
  #floor: number
  readonly #readers = new Set<ChangeReader>()

  constructor(window: number, floor: number) {
    this.#window = window
    this.#floor = floor
  }

  append(change: Change): void {
    this.#changes.push(change)
    // Removing entries one by one would make every write linear in the window.
    if (this.#changes.length >= this.#window * 2) {
      const cut = this.#changes.length - this.#window
      this.#floor = this.#changes[cut - 1]!.revision
      this.#changes = this.#changes.slice(cut)
      this.#dropped += cut
    }
    for (const reader of this.#readers) reader.notify()
  }

  /** Starts reading after `revision`. `notify` is called when a change arrives after an empty read. */
  read(revision: number, notify: () => void): ChangeReader {
    if (revision < this.#floor) throw new ChangesForgotten(revision, this.#floor)
    const reader = new ChangeReader(this, this.#dropped + this.#indexAfter(revision), notify)
    this.#readers.add(reader)
    return reader
  }

  /** Drops all changes up to `revision`. */
  compact(revision: number): void {
    const cut = this.#indexAfter(revision)
    this.#changes = this.#changes.slice(cut)
    this.#dropped += cut
    this.#floor = Math.max(this.#floor, revision)
  }

  /**
   * Returns the changes after `revision`, newest first, to reconstruct an old state. Undefined if they were
   * dropped.
   */
  since(revision: number): readonly Change[] | undefined {
    if (revision < this.#floor) return undefined
    return this.#changes.slice(this.#indexAfter(revision)).reverse()
  }

  get floor(): number {
    return this.#floor
  }

  /** Returns up to `limit` changes from a position. Throws if the position has left the window. */
  slice(position: number, limit: number): readonly Change[] {
    if (position < this.#dropped) throw new ChangesForgotten(position, this.#floor)
    const start = position - this.#dropped
    return start === 0 && this.#changes.length <= limit
      ? this.#changes.slice()
      : this.#changes.slice(start, start + limit)
  }

  stop(reader: ChangeReader): void {
    this.#readers.delete(reader)
  }

  #indexAfter(revision: number): number {
    let low = 0
    let high = this.#changes.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#changes[middle]!.revision <= revision) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** The position of one watch in a log. */
export class ChangeReader {
  readonly #log: ChangeLog
  readonly #onReady: () => void
  #position: number
  #waiting = false

  constructor(log: ChangeLog, position: number, onReady: () => void) {
    this.#log = log
    this.#position = position
    this.#onReady = onReady
  }

  /**
   * Returns the next changes, at most `limit`. After an empty result `notify` is called once, on the next
   * change.
   */
  take(limit: number): readonly Change[] {
    const changes = this.#log.slice(this.#position, limit)
    this.#position += changes.length
    this.#waiting = changes.length === 0
    return changes
  }

  notify(): void {
    if (!this.#waiting) return
    this.#waiting = false
    this.#onReady()
  }

  stop(): void {
    this.#log.stop(this)
  }
}
