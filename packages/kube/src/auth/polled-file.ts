// SPDX-License-Identifier: Apache-2.0

import { readFileSync } from 'node:fs'
import type { Clock } from '../clock/index.ts'

/** How old the content of a rotated file may be. Tokens and certificates are renewed long before they expire, so a few
 * seconds cost nothing; reading a small file this often costs nothing either. */
export const filePollMs = 10_000

/**
 * The content of a small file that somebody replaces now and then. Content is compared, not times: a mounted Secret is
 * swapped by a symbolic link. A file that cannot be read for a moment keeps its last content; one that never could be
 * read throws.
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

  /** The content, at most `filePollMs` old. */
  read(): string {
    if (this.#content === undefined || this.#clock.monotonic() - this.#readAt >= filePollMs) this.refresh()
    return this.#content!
  }

  /** Reads now; true when the content is another one. */
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
