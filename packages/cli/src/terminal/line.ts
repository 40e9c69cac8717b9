// SPDX-License-Identifier: Apache-2.0

// Lines of text with colours. Texts come from the cluster and from files. A control character in them could move the
// cursor, change the terminal title or hide other text. Colours are therefore stored separately, and every text is
// escaped before its colour is added.
import { styleText } from 'node:util'

export type Colour = 'good' | 'waiting' | 'bad' | 'faint'

export interface Coloured {
  readonly text: string
  readonly colour: Colour
}

/** One line: plain text, coloured text, or several pieces of both. */
export type Line = string | Coloured | readonly (string | Coloured)[]

export const good = (text: string): Coloured => ({ text, colour: 'good' })
export const waiting = (text: string): Coloured => ({ text, colour: 'waiting' })
export const bad = (text: string): Coloured => ({ text, colour: 'bad' })
export const faint = (text: string): Coloured => ({ text, colour: 'faint' })

const styles = { good: 'green', waiting: 'yellow', bad: 'red', faint: 'dim' } as const

/** Reports whether the output is a terminal on which the user wants colours. */
export function wantsColours(out: { readonly isTTY?: boolean }): boolean {
  return (out.isTTY ?? false) && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
}

/** Replaces control characters by text such as `\x1b`, so that a terminal does not execute them. */
export function escaped(text: string): string {
  return text.replace(/\p{Cc}/gu, control => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

/** Text of several lines without control characters but line breaks and tabs. */
export function escapedText(text: string): string {
  return text.replace(/[^\n\t]+/g, escaped)
}

/** The line as printed, without its line break. */
export function rendered(line: Line, hasColours: boolean): string {
  return piecesOf(line)
    .map(piece => {
      if (typeof piece === 'string') return escaped(piece)
      const text = escaped(piece.text)
      return hasColours && text !== ''
        ? styleText(styles[piece.colour], text, { validateStream: false })
        : text
    })
    .join('')
}

/** Truncates the line to a number of characters. Colours have no width. */
export function clipped(line: Line, columns: number): Line {
  const pieces = piecesOf(line).map(piece =>
    typeof piece === 'string' ? escaped(piece) : { ...piece, text: escaped(piece.text) },
  )
  const length = pieces.reduce((sum, piece) => sum + [...textOf(piece)].length, 0)
  if (length <= columns) return pieces
  let room = columns - 1
  const kept = pieces.map(piece => {
    const text = [...textOf(piece)].slice(0, room).join('')
    room -= [...text].length
    return typeof piece === 'string' ? text : { ...piece, text }
  })
  return [...kept, '…']
}

/** Number of characters of the line as printed. */
export function widthOf(line: Line): number {
  return piecesOf(line).reduce((sum, piece) => sum + [...escaped(textOf(piece))].length, 0)
}

/** Concatenates lines or pieces of lines. */
export function joined(pieces: readonly Line[], separator = ''): Line {
  return pieces.flatMap((piece, at) => [...(at > 0 && separator ? [separator] : []), ...piecesOf(piece)])
}

function piecesOf(line: Line): readonly (string | Coloured)[] {
  return Array.isArray(line) ? (line as readonly (string | Coloured)[]) : [line as string | Coloured]
}

function textOf(piece: string | Coloured): string {
  return typeof piece === 'string' ? piece : piece.text
}
