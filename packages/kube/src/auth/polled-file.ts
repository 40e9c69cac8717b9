// SPDX-License-Identifier: Apache-2.0

import { readFileSync } from 'node:fs'
import type { Clock } from '../clock/index.ts'

/**
 * Maximum age of the content of a rotated file. Tokens and certificates are renewed long before they expire, so a few
 * seconds of delay are harmless. Reading a small file this often is cheap.
 */
export const filePollMs = 10_000

/**
 * The content of a small file that another process replaces from time to time. Compares content, not times: the
 * kubelet swaps a mounted Secret by a symbolic link. If the file cannot be read for a moment, the last content stays
 * valid. If it was never readable, reading throws.
 */
export class PolledFile {
  readonly path: string
  readonly #clock: Clock
  #content: string | undefined
  #readAt = Number.NEGATIVE_INFINITY

  constructor(path: string, clock: Clock) {
    this.path = path
    this.#clock = clock
  }

  /** Returns the content, at most `filePollMs` old. */
  read(): string {
    if (this.#content === undefined || this.#clock.monotonic() - this.#readAt >= filePollMs) this.refresh()
    return this.#content!
  }

  /** Reads the file now. Returns true if the content has changed. */
  refresh(): boolean {
    const before = this.#content
    this.#readAt = this.#clock.monotonic()
    try {
      this.#content = readFileSync(this.path, 'utf8')
    } catch (error) {
      if (before === undefined) throw error
    }
    return this.#content !== before
  }
}
