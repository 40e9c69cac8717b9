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
  /** Lines on the terminal that are drawn over next. */
  #drawn = 0
  #told: ReadonlySet<string> | undefined

  constructor(out: Screen) {
    this.#out = out
  }

  show(lines: readonly string[]): void {
    if (!this.#out.isTTY) this.#tell(lines)
    else if (lines.length > 0 || this.#drawn > 0) this.#redraw(this.#clipped(lines))
  }

  /** Shows the last state, all of it: it is not drawn over any more. */
  end(lines: readonly string[]): void {
    if (this.#out.isTTY) {
      this.#redraw(lines)
      this.#drawn = 0
    } else this.#tell(lines)
  }

  /** Says something that stays; what changes goes on below it. */
  say(lines: readonly string[]): void {
    if (this.#drawn > 0) this.#out.write(this.#erasure())
    this.#drawn = 0
    if (lines.length > 0) this.#out.write(`${lines.join('\n')}\n`)
  }

  #redraw(lines: readonly string[]): void {
    this.#out.write(`${this.#erasure()}${lines.map(line => `${line}\n`).join('')}`)
    this.#drawn = lines.length
  }

  #erasure(): string {
    return this.#drawn ? `\x1b[${this.#drawn}A\x1b[0J` : ''
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
    const told = this.#told
    // The first look is the whole picture; afterwards what changed, without the branches that led to it.
    const text = told
      ? lines.filter(line => !told.has(line)).map(line => line.replace(/^[ │├└─]+/, ''))
      : lines
    if (lines.length > 0 || told) this.#told = new Set(lines)
    if (text.length > 0) this.#out.write(`${text.join('\n')}\n`)
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
