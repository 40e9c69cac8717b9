// SPDX-License-Identifier: Apache-2.0

import { clipped, type Line, rendered, wantsColours } from '../line.ts'

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

  show(lines: readonly Line[]): void {
    if (!this.#out.isTTY) this.#tell(lines)
    else if (lines.length > 0 || this.#drawn > 0) this.#redraw(this.#fitting(lines))
  }

  /** Shows the last state, all of it: it is not drawn over any more. */
  end(lines: readonly Line[]): void {
    if (this.#out.isTTY) {
      this.#redraw(lines)
      this.#drawn = 0
    } else this.#tell(lines)
  }

  /** Says something that stays; what changes goes on below it. */
  say(lines: readonly Line[]): void {
    if (this.#drawn > 0) this.#out.write(this.#erasure())
    this.#drawn = 0
    if (lines.length > 0) this.#out.write(`${this.#rendered(lines).join('\n')}\n`)
  }

  #redraw(lines: readonly Line[]): void {
    this.#out.write(
      `${this.#erasure()}${this.#rendered(lines)
        .map(line => `${line}\n`)
        .join('')}`,
    )
    this.#drawn = lines.length
  }

  #erasure(): string {
    return this.#drawn ? `\x1b[${this.#drawn}A\x1b[0J` : ''
  }

  /** The cursor cannot go back above the screen, nor does it know of lines that were wrapped. */
  #fitting(lines: readonly Line[]): Line[] {
    const columns = this.#out.columns || unknownScreen.columns
    const rows = this.#out.rows || unknownScreen.rows
    const hidden = lines.length - (rows - 1)
    const shown = hidden > 0 ? [...lines.slice(0, rows - 2), `… and ${hidden + 1} more lines`] : lines
    return shown.map(line => clipped(line, columns))
  }

  #rendered(lines: readonly Line[]): string[] {
    const hasColours = wantsColours(this.#out)
    return lines.map(line => rendered(line, hasColours))
  }

  #tell(given: readonly Line[]): void {
    const lines = this.#rendered(given)
    const told = this.#told
    // The first look is the whole picture; afterwards what changed, without the branches that led to it.
    const text = told
      ? lines.filter(line => !told.has(line)).map(line => line.replace(/^[ │├└─]+/, ''))
      : lines
    if (lines.length > 0 || told) this.#told = new Set(lines)
    if (text.length > 0) this.#out.write(`${text.join('\n')}\n`)
  }
}
