// SPDX-License-Identifier: Apache-2.0

import type { Writable } from 'node:stream'

/** Shows text that changes: redrawn in place on a terminal, told line by line where it has changed elsewhere. */
export class LiveView {
  readonly #out: Writable & { isTTY?: boolean }
  #drawn = 0
  #told = new Set<string>()

  constructor(out: Writable & { isTTY?: boolean }) {
    this.#out = out
  }

  show(lines: readonly string[]): void {
    if (this.#out.isTTY) {
      const up = this.#drawn ? `\x1b[${this.#drawn}A\x1b[0J` : ''
      this.#out.write(`${up}${lines.join('\n')}\n`)
      this.#drawn = lines.length
      return
    }
    const fresh = lines.filter(line => !this.#told.has(line))
    this.#told = new Set(lines)
    // The first look is the whole picture; afterwards what changed, without the branches that led to it.
    const text = this.#drawn++ === 0 ? fresh : fresh.map(line => line.replace(/^[ │├└─]+/, ''))
    if (text.length) this.#out.write(`${text.join('\n')}\n`)
  }
}
