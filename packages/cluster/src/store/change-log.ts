// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../object.ts'

/** One committed write. `previous` is what the key held before; it decides what a selecting watch sees. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly revision: number
  readonly resource: string
  readonly key: string
  readonly object: KubeObject
  readonly previous: KubeObject | undefined
}

/** The watch asked for changes that the log no longer holds. */
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
 * The last changes of one resource, in order. All watches read the same log, each at its own position, so a change
 * costs one entry however many watch, and a slow reader costs nothing until it has fallen out of the window.
 */
export class ChangeLog {
  readonly #window: number
  #changes: Change[] = []
  /** How many changes have left the log; positions count from the very first change. */
  #dropped = 0
  /** Changes up to here are gone; watching from an older revision is not possible. */
  #floor: number
  readonly #readers = new Set<ChangeReader>()

  constructor(window: number, floor: number) {
    this.#window = window
    this.#floor = floor
  }

  append(change: Change): void {
    this.#changes.push(change)
    // Cut in large steps: removing the head one by one would make every write linear in the window.
    if (this.#changes.length >= this.#window * 2) {
      const cut = this.#changes.length - this.#window
      this.#floor = this.#changes[cut - 1]!.revision
      this.#changes = this.#changes.slice(cut)
      this.#dropped += cut
    }
    for (const reader of this.#readers) reader.wake()
  }

  /** Starts reading behind `revision`; `wake` is called when there is something new after an empty read. */
  read(revision: number, wake: () => void): ChangeReader {
    if (revision < this.#floor) throw new ChangesForgotten(revision, this.#floor)
    const reader = new ChangeReader(this, this.#dropped + this.#indexAfter(revision), wake)
    this.#readers.add(reader)
    return reader
  }

  /** Forgets everything up to `revision`, as compaction does. */
  compact(revision: number): void {
    const cut = this.#indexAfter(revision)
    this.#changes = this.#changes.slice(cut)
    this.#dropped += cut
    this.#floor = Math.max(this.#floor, revision)
  }

  /** What changed after `revision`, newest first, for going back in time; undefined when that is forgotten. */
  since(revision: number): readonly Change[] | undefined {
    if (revision < this.#floor) return undefined
    return this.#changes.slice(this.#indexAfter(revision)).reverse()
  }

  get floor(): number {
    return this.#floor
  }

  /** Up to `limit` changes from a position on; throws when the position has left the window. */
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

/** One watch's place in a log. */
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

  /** The next changes, at most `limit`. After an empty answer `wake` is called once, when there are some. */
  take(limit: number): readonly Change[] {
    const changes = this.#log.slice(this.#position, limit)
    this.#position += changes.length
    this.#waiting = changes.length === 0
    return changes
  }

  wake(): void {
    if (!this.#waiting) return
    this.#waiting = false
    this.#onReady()
  }

  stop(): void {
    this.#log.stop(this)
  }
}
