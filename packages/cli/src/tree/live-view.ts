// SPDX-License-Identifier: Apache-2.0

import { type Coloured, clipped, type Line, rendered, wantsColours } from '../terminal/line.ts'
import { unknownScreen } from '../terminal/terminal.ts'
import { wrappedNotes } from '../terminal/wrap.ts'

type Screen = NodeJS.WritableStream & {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

/** Rows that lines get, however many notes there are. */
const fewestLines = 3

/** Control sequences that erase from the cursor on. */
const toEndOfLine = '\x1b[K'
const toEndOfScreen = '\x1b[0J'

/** Prints text that changes: redrawn in place on a terminal, and as changed lines on other outputs. */
export class LiveView {
  readonly #out: Screen
  /** Number of lines that the next redraw overwrites. */
  #drawn = 0
  #printed: ReadonlySet<string> | undefined

  constructor(out: Screen) {
    this.#out = out
  }

  /** Lines are truncated to the screen. Notes below them are wrapped, because they contain the reasons. */
  show(lines: readonly Line[], notes: readonly (string | Coloured)[] = []): void {
    if (!this.#out.isTTY) this.#print([...lines, ...notes])
    else if (lines.length + notes.length > 0 || this.#drawn > 0) this.#redraw(this.#fitting(lines, notes))
  }

  /** Prints the complete last state, which is not redrawn any more. */
  end(lines: readonly Line[], notes: readonly (string | Coloured)[] = []): void {
    if (this.#out.isTTY) {
      this.#redraw([...lines, ...wrappedNotes(notes, this.#columns())])
      this.#drawn = 0
    } else this.#print([...lines, ...notes])
  }

  /** Prints a message that stays above the redrawn lines. */
  say(lines: readonly Line[]): void {
    if (this.#drawn > 0) this.#out.write(this.#erasure())
    this.#drawn = 0
    if (lines.length > 0) this.#out.write(`${this.#rendered(lines).join('\n')}\n`)
  }

  /**
   * Overwrites every line and then erases the rest. Erasing first would flicker, and tmux would copy every erased
   * screen to its history.
   */
  #redraw(lines: readonly Line[]): void {
    const isFirst = this.#drawn === 0
    const text = this.#rendered(lines).map(line => `${line}${isFirst ? '' : toEndOfLine}\n`)
    this.#out.write(isFirst ? text.join('') : `\x1b[${this.#drawn}A${text.join('')}${toEndOfScreen}`)
    this.#drawn = lines.length
  }

  #erasure(): string {
    return this.#drawn ? `\x1b[${this.#drawn}A${toEndOfScreen}` : ''
  }

  /** The cursor cannot move above the screen, and wrapped lines would break the line count. */
  #fitting(lines: readonly Line[], notes: readonly (string | Coloured)[]): Line[] {
    const columns = this.#columns()
    const rows = (this.#out.rows || unknownScreen.rows) - 1
    const below = truncated(
      wrappedNotes(notes, columns),
      Math.max(0, rows - Math.min(lines.length, fewestLines)),
    )
    return [...truncated(lines, rows - below.length), ...below].map(line => clipped(line, columns))
  }

  #columns(): number {
    return this.#out.columns || unknownScreen.columns
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

function truncated(lines: readonly Line[], rows: number): readonly Line[] {
  const hidden = lines.length - rows
  return hidden > 0 ? [...lines.slice(0, rows - 1), `… and ${hidden + 1} more lines`] : lines
}
