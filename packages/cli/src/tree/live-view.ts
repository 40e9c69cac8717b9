// SPDX-License-Identifier: Apache-2.0

import { stripVTControlCharacters } from 'node:util'

type Screen = NodeJS.WritableStream & {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

/** A terminal may not say how large it is. */
const unknownScreen = { columns: 80, rows: 24 }

/** Shows text that changes: redrawn in place on a terminal, told line by line where it has changed elsewhere. */
export class LiveView {
  readonly #out: Screen
  #drawn = 0
  #told = new Set<string>()

  constructor(out: Screen) {
    this.#out = out
  }

  show(lines: readonly string[]): void {
    if (lines.length === 0 && this.#drawn === 0) return
    if (this.#out.isTTY) this.#redraw(this.#clipped(lines))
    else this.#tell(lines)
  }

  /** Shows the last state, all of it: it is not drawn over any more. */
  end(lines: readonly string[]): void {
    if (this.#out.isTTY) this.#redraw(lines)
    else this.#tell(lines)
  }

  #redraw(lines: readonly string[]): void {
    const up = this.#drawn ? `\x1b[${this.#drawn}A\x1b[0J` : ''
    this.#out.write(`${up}${lines.join('\n')}\n`)
    this.#drawn = lines.length
  }

  /** The cursor cannot go back above the screen, nor does it know of lines that were wrapped. */
  #clipped(lines: readonly string[]): string[] {
    const columns = this.#out.columns || unknownScreen.columns
    const rows = this.#out.rows || unknownScreen.rows
    const hidden = lines.length - (rows - 1)
    const shown = hidden > 0 ? [...lines.slice(0, rows - 2), `… and ${hidden + 1} more lines`] : lines
    return shown.map(line => clip(line, columns))
  }

  #tell(lines: readonly string[]): void {
    const fresh = lines.filter(line => !this.#told.has(line))
    this.#told = new Set(lines)
    // The first look is the whole picture; afterwards what changed, without the branches that led to it.
    const text = this.#drawn++ === 0 ? fresh : fresh.map(line => line.replace(/^[ │├└─]+/, ''))
    if (text.length) this.#out.write(`${text.join('\n')}\n`)
  }
}

/** Cuts a line to so many visible characters; colours take no room and end where the text ends. */
export function clip(line: string, columns: number): string {
  const length = [...stripVTControlCharacters(line)].length
  if (length <= columns) return line
  let room = columns - 1
  const kept = [...line.matchAll(/\p{Cc}\[[0-9;]*m|\P{Cc}/gu)].map(([piece]) =>
    piece.length > 1 && piece.endsWith('m') ? piece : room-- > 0 ? piece : '',
  )
  return `${kept.join('')}…`
}
