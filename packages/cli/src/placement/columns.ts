// SPDX-License-Identifier: Apache-2.0

/** Lines for people are at most this wide, because many terminals and reviews are. */
export const columns = 80

/** Fills words into lines. A word that is longer than a line stays whole, so that users can copy it. */
export function filled(text: string, indent: string, first = indent): string[] {
  const lines: string[] = []
  let line = first
  let isEmpty = true
  for (const word of text.split(' ')) {
    if (!isEmpty && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = indent
      isEmpty = true
    }
    line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line]
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
