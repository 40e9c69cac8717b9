// SPDX-License-Identifier: Apache-2.0

// Lines of text with colours. Texts come from the cluster and from files of others: a control character in them could
// move the cursor, change the title of the terminal or hide what stands before it. Colours are therefore no part of a
// text. They are kept beside it until a line is written, and every text is escaped before its colour is added.

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

const codes: Readonly<Record<Colour, string>> = {
  good: '\x1b[32m',
  waiting: '\x1b[33m',
  bad: '\x1b[31m',
  faint: '\x1b[2m',
}
const reset = '\x1b[0m'

/** Reports whether the reader looks at a terminal and wants colours. */
export function wantsColours(out: { readonly isTTY?: boolean }): boolean {
  return (out.isTTY ?? false) && !process.env.NO_COLOR
}

/** Control characters as text, such as `\x1b`: a terminal obeys none of them. */
export function escaped(text: string): string {
  return text.replace(/\p{Cc}/gu, control => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

/** The line as it is written, without its line break. */
export function rendered(line: Line, hasColours: boolean): string {
  return piecesOf(line)
    .map(piece => {
      if (typeof piece === 'string') return escaped(piece)
      const text = escaped(piece.text)
      return hasColours && text !== '' ? `${codes[piece.colour]}${text}${reset}` : text
    })
    .join('')
}

/** The line cut to so many characters; colours take no room. */
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

/** Puts lines or pieces of them behind each other. */
export function joined(pieces: readonly Line[], separator = ''): Line {
  return pieces.flatMap((piece, at) => [...(at > 0 && separator ? [separator] : []), ...piecesOf(piece)])
}

function piecesOf(line: Line): readonly (string | Coloured)[] {
  return Array.isArray(line) ? (line as readonly (string | Coloured)[]) : [line as string | Coloured]
}

function textOf(piece: string | Coloured): string {
  return typeof piece === 'string' ? piece : piece.text
}
