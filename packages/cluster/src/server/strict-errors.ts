// SPDX-License-Identifier: Apache-2.0

/**
 * Returns strict decoding errors in the order of the text: unknown fields and duplicate fields. JSON.parse
 * silently keeps the last duplicate, so this reads the text itself. The text must be valid JSON.
 */
export function findStrictErrors(text: string, unknownFields: readonly string[]): string[] {
  const unknown = new Set(unknownFields)
  const found: string[] = []
  let position = 0

  const skipSpace = () => {
    while (position < text.length && ' \t\n\r'.includes(text[position]!)) position++
  }
  const readString = (): string => {
    const start = position++
    while (text[position] !== '"') position += text[position] === '\\' ? 2 : 1
    position++
    return JSON.parse(text.slice(start, position)) as string
  }
  const readValue = (path: string): void => {
    skipSpace()
    const char = text[position]
    if (char === '{') readObject(path)
    else if (char === '[') readArray(path)
    else if (char === '"') readString()
    else while (position < text.length && !',]} \t\n\r'.includes(text[position]!)) position++
  }
  const readObject = (path: string): void => {
    const seen = new Set<string>()
    position++
    for (skipSpace(); text[position] !== '}'; skipSpace()) {
      if (text[position] === ',') {
        position++
        skipSpace()
      }
      const key = readString()
      const at = path ? `${path}.${key}` : key
      if (seen.has(key)) found.push(`duplicate field "${at}"`)
      else if (unknown.has(at)) found.push(`unknown field "${at}"`)
      seen.add(key)
      skipSpace()
      position++
      readValue(at)
    }
    position++
  }
  const readArray = (path: string): void => {
    position++
    let index = 0
    for (skipSpace(); text[position] !== ']'; skipSpace()) {
      if (text[position] === ',') position++
      readValue(`${path}[${index++}]`)
    }
    position++
  }
  readValue('')
  return found
}
