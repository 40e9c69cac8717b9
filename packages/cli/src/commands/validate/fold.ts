// SPDX-License-Identifier: Apache-2.0

/**
 * Breaks a line between words, so that a terminal does not break it within one. The rest is indented below its
 * beginning. A word that is longer than the terminal is wide stays whole, and so does the place at the end.
 */
export function folded(line: string, columns: number): string[] {
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
