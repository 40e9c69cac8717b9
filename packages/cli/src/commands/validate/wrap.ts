// SPDX-License-Identifier: Apache-2.0

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
