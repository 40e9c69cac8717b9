// SPDX-License-Identifier: Apache-2.0

const shortEscapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
}

/**
 * Quotes a string like Go's `%q`. JSON differs only for control characters, which Go writes as \x1f or \a. A
 * lone surrogate, which Go strings cannot contain, becomes the replacement character.
 */
export function quote(text: string): string {
  const quoted = text.toWellFormed().replace(/["\\]|[\p{C}\p{Z}]/gu, character => {
    if (character === ' ') return character
    const short = shortEscapes[character]
    if (short) return short
    const code = character.codePointAt(0)!
    if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`
    return code < 0x10000
      ? `\\u${code.toString(16).padStart(4, '0')}`
      : `\\U${code.toString(16).padStart(8, '0')}`
  })
  return `"${quoted}"`
}
