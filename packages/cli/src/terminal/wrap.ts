// SPDX-License-Identifier: Apache-2.0

import { type Coloured, escaped } from './line.ts'

/** Wraps lines of one colour, which stay readable on a narrow terminal. */
export function wrappedNotes(notes: readonly (string | Coloured)[], columns: number): (string | Coloured)[] {
  return notes.flatMap((note): (string | Coloured)[] => {
    const lines = wrapped(escaped(typeof note === 'string' ? note : note.text), columns)
    return typeof note === 'string' ? lines : lines.map(text => ({ ...note, text }))
  })
}

/**
 * Wraps a line between words and indents the continuation. A word that is wider than the terminal stays whole, and so
 * does the location at the end.
 */
export function wrapped(line: string, columns: number): string[] {
  if (line.length <= columns) return [line]
  const indent = /^ */.exec(line)![0]
  const words = line.match(/ *(?:\((?:line|first)[^()]*\)$|\S+)/g) ?? []
  const lines: string[] = []
  let current = ''
  for (const word of words) {
    if (current !== '' && current.length + word.length > columns) {
      lines.push(current)
      current = `${indent}  ${word.trimStart()}`
    } else current += word
  }
  return [...lines, current]
}
