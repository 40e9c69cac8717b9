// SPDX-License-Identifier: Apache-2.0

import { clipped, type Line, rendered, wantsColours } from '../terminal/line.ts'

type Screen = NodeJS.WritableStream & {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

/** Size of a terminal that does not report one. */
const unknownScreen = { columns: 80, rows: 24 }

/** Prints text that changes: redrawn in place on a terminal, and as changed lines on other outputs. */
export class LiveView {
  readonly #out: Screen
  /** Number of lines that the next redraw overwrites. */
  #drawn = 0
  #printed: ReadonlySet<string> | undefined

  constructor(out: Screen) {
    this.#out = out
  }

  show(lines: readonly Line[]): void {
    if (!this.#out.isTTY) this.#print(lines)
    else if (lines.length > 0 || this.#drawn > 0) this.#redraw(this.#fitting(lines))
  }

  /** Prints the complete last state, which is not redrawn any more. */
  end(lines: readonly Line[]): void {
    if (this.#out.isTTY) {
      this.#redraw(lines)
      this.#drawn = 0
    } else this.#print(lines)
  }

  /** Prints a message that stays above the redrawn lines. */
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

  /** The cursor cannot move above the screen, and wrapped lines would break the line count. */
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

  #print(given: readonly Line[]): void {
    const lines = this.#rendered(given)
    const printed = this.#printed
    // The first output is complete. Later outputs contain changed lines only, without their branches.
    const text = printed
      ? lines.filter(line => !printed.has(line)).map(line => line.replace(/^[ │├└─]+/, ''))
      : lines
    if (lines.length > 0 || printed) this.#printed = new Set(lines)
    if (text.length > 0) this.#out.write(`${text.join('\n')}\n`)
  }
}
