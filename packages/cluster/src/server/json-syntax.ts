// SPDX-License-Identifier: Apache-2.0

// Reports JSON syntax errors with the messages of Go's parser. Users of the API know them, and JSON.parse has
// different ones.
import { MAX_JSON_DEPTH, quote } from '@grove/apimachinery'

const endOfInput = 'unexpected end of JSON input'
const literals: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' }

/** Returns the first error, or undefined for JSON that is not nested deeper than the limit. */
export function jsonSyntaxError(bytes: Uint8Array, maximumDepth = MAX_JSON_DEPTH): string | undefined {
  try {
    new Scanner(bytes, maximumDepth).document()
    return undefined
  } catch (error) {
    if (error instanceof SyntaxProblem) return error.message
    throw error
  }
}

class SyntaxProblem extends Error {}

/** The parser state inside an object or a list. */
interface Place {
  readonly close: string
  /** Objects alternate between keys and values. */
  readonly isObject: boolean
}

const objectPlace: Place = { close: '}', isObject: true }
const listPlace: Place = { close: ']', isObject: false }

/**
 * Keeps its own stack, because a text may be nested deeper than the call stack. Works on bytes, as Go does.
 */
class Scanner {
  readonly #text: string
  #position = 0
  readonly #open: Place[] = []
  readonly #maximumDepth: number

  constructor(bytes: Uint8Array, maximumDepth: number) {
    this.#maximumDepth = maximumDepth
    this.#text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  }

  document(): void {
    this.#beginValue()
    while (this.#open.length > 0) this.#afterValue()
    if (this.#peek() !== '') throw this.#unexpected('after top-level value')
  }

  /** Reads a whole scalar, or an object or list up to its first value. */
  #beginValue(): void {
    for (;;) {
      const char = this.#next('looking for beginning of value')
      if (char === '{') {
        if (this.#closes('}')) return
        this.#enter(objectPlace)
        this.#key()
      } else if (char === '[') {
        if (this.#closes(']')) return
        this.#enter(listPlace)
      } else {
        this.#scalar(char)
        return
      }
    }
  }

  #enter(place: Place): void {
    if (this.#open.push(place) > this.#maximumDepth) throw this.#unexpected('exceeded max depth', -1)
  }

  #closes(char: string): boolean {
    if (this.#peek() !== char) return false
    this.#position++
    return true
  }

  #key(): void {
    if (this.#next('looking for beginning of object key string') !== '"')
      throw this.#unexpected('looking for beginning of object key string', -1)
    this.#string()
    if (this.#next('after object key') !== ':') throw this.#unexpected('after object key', -1)
  }

  #afterValue(): void {
    const { close, isObject } = this.#open.at(-1)!
    const where = isObject ? 'after object key:value pair' : 'after array element'
    const char = this.#next(where)
    if (char === close) this.#open.pop()
    else if (char !== ',') throw this.#unexpected(where, -1)
    else {
      if (isObject) this.#key()
      this.#beginValue()
    }
  }

  #scalar(char: string): void {
    if (char === '"') this.#string()
    else if (char === '-' || isDigit(char)) this.#number(char)
    else if (literals[char]) this.#literal(literals[char])
    else throw this.#unexpected('looking for beginning of value', -1)
  }

  #literal(word: string): void {
    for (const expected of word.slice(1)) {
      const where = `in literal ${word} (expecting '${expected}')`
      if (this.#raw() !== expected) throw this.#unexpected(where, -1)
    }
  }

  #string(): void {
    for (;;) {
      const char = this.#raw()
      if (char === '"') return
      if (char < ' ') throw this.#unexpected('in string literal', -1)
      if (char !== '\\') continue
      const escaped = this.#raw()
      if (escaped === 'u') {
        for (let digit = 0; digit < 4; digit++)
          if (!/[0-9a-fA-F]/.test(this.#raw()))
            throw this.#unexpected('in \\u hexadecimal character escape', -1)
      } else if (!'"\\/bfnrt'.includes(escaped)) throw this.#unexpected('in string escape code', -1)
    }
  }

  #number(first: string): void {
    const leading = first === '-' ? this.#raw() : first
    if (!isDigit(leading)) throw this.#unexpected('in numeric literal', -1)
    if (leading !== '0') this.#digits()
    if (this.#text[this.#position] === '.') {
      this.#position++
      if (!isDigit(this.#raw())) throw this.#unexpected('after decimal point in numeric literal', -1)
      this.#digits()
    }
    if ('eE'.includes(this.#text[this.#position] ?? '-')) {
      this.#position++
      let digit = this.#raw()
      if (digit === '+' || digit === '-') digit = this.#raw()
      if (!isDigit(digit)) throw this.#unexpected('in exponent of numeric literal', -1)
      this.#digits()
    }
  }

  #digits(): void {
    while (isDigit(this.#text[this.#position] ?? '')) this.#position++
  }

  /** Returns the next character that is not a space, or an empty string at the end. */
  #peek(): string {
    while (' \t\r\n'.includes(this.#text[this.#position] ?? '-')) this.#position++
    return this.#text[this.#position] ?? ''
  }

  #next(where: string): string {
    if (this.#peek() === '') throw this.#unexpected(where)
    return this.#text[this.#position++]!
  }

  #raw(): string {
    if (this.#position >= this.#text.length) throw new SyntaxProblem(endOfInput)
    return this.#text[this.#position++]!
  }

  #unexpected(where: string, offset = 0): SyntaxProblem {
    const char = this.#text[this.#position + offset]
    return new SyntaxProblem(
      char === undefined ? endOfInput : `invalid character ${quoteCharacter(char)} ${where}`,
    )
  }
}

function isDigit(char: string): boolean {
  return char >= '0' && char <= '9' && char.length === 1
}

function quoteCharacter(char: string): string {
  if (char === "'") return "'\\''"
  return char === '"' ? `'"'` : `'${quote(char).slice(1, -1)}'`
}
