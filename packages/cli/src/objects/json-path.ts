// SPDX-License-Identifier: Apache-2.0

// Parses the JSONPath templates of kubectl. They differ from RFC 9535: text around expressions in braces, {range} and
// {end}, quoted text, `\.` in field names, and no expressions inside of filters.
import { CommandError } from '../command-error.ts'

/** A step from values to other values. */
export type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'constant'; readonly value: string | number | boolean }
  | { readonly kind: 'slice'; readonly slice: Slice }
  | { readonly kind: 'filter'; readonly filter: Filter }
  | { readonly kind: 'union'; readonly members: readonly Path[] }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'descendants' }
  /** A word such as `range`. Its meaning is known only when the template runs, as in kubectl. */
  | { readonly kind: 'word'; readonly word: string }

export type Path = readonly Step[]

/** `[start:end:step]`. An index such as `[2]` is a slice with one element. */
export interface Slice {
  readonly start: number
  /** Undefined: all elements to the last one. */
  readonly end: number | undefined
  readonly step: number | undefined
  readonly isIndex: boolean
}

export interface Filter {
  readonly left: Path
  /** Undefined: the left side must exist. */
  readonly comparison?: { readonly operator: string; readonly right: Path }
}

/** Text, or an expression in braces. */
export type TemplatePart = { readonly text: string } | { readonly path: Path }

export function parseTemplate(template: string): TemplatePart[] {
  const parts: TemplatePart[] = []
  let at = 0
  while (at < template.length) {
    const open = template.indexOf('{', at)
    const end = open < 0 ? template.length : open
    if (end > at) parts.push({ text: template.slice(at, end) })
    if (open < 0) break
    const parser = new PathParser(template, open + 1)
    parts.push({ path: parser.path() })
    at = parser.position
  }
  return parts
}

const forms = '`name1.name2`, `.name1.name2`, `{name1.name2}` or `{.name1.name2}`'

/** A path in which the braces and the first dot are optional, as in the columns and sort keys of kubectl. */
export function parseRelaxedPath(text: string): { readonly path: Path; readonly written: string } {
  const match = /^\{\.?([^{}]+)\}$|^\.?([^{}]+)$/.exec(text)
  if (!match) throw new CommandError(`${JSON.stringify(text)} is not a path; use ${forms}`)
  const written = `{.${match[1] ?? match[2]}}`
  return { path: parsePath(written), written }
}

function parsePath(action: string): Path {
  const parser = new PathParser(action, 1)
  return parser.path()
}

const endsName = new Set([' ', '\t', '\r', '\n', '.', ',', '[', ']', '$', '@', '{', '}', ''])

/** Parses one expression, from behind its opening brace to its closing brace. */
class PathParser {
  readonly #text: string
  position: number

  constructor(text: string, position: number) {
    this.#text = text
    this.position = position
  }

  path(): Path {
    const steps: Step[] = []
    for (;;) {
      const next = this.#text[this.position] ?? ''
      if (next === '}') {
        this.position++
        return steps
      }
      if (next === '' || next === '\n' || next === '\r') throw this.#error('an opening brace is not closed')
      steps.push(...this.#steps(next, steps.at(-1)))
    }
  }

  #steps(next: string, last: Step | undefined): readonly Step[] {
    if (this.#skip('[?(')) return [this.#filter()]
    if (this.#skip('..')) {
      if (last?.kind === 'descendants') throw this.#error('".." follows ".."')
      const isName = /[\p{L}\p{Nd}_]/u.test(this.#text[this.position] ?? '')
      return [{ kind: 'descendants' }, ...(isName ? [this.#field()] : [])]
    }
    // The current object, and spaces between steps.
    if (this.#skip(' ') || this.#skip('@') || this.#skip('$')) return []
    if (this.#skip('[')) return this.#brackets()
    if (this.#skip('.')) return [this.#field()]
    if (next === '"' || next === "'") return [{ kind: 'constant', value: this.#quoted(next) }]
    if (/[+\-\p{Nd}]/u.test(next)) return [{ kind: 'constant', value: this.#number() }]
    if (/[\p{L}_]/u.test(next)) return [this.#word()]
    throw this.#error(`unexpected character ${JSON.stringify(next)}`)
  }

  #skip(text: string): boolean {
    const isNext = this.#text.startsWith(text, this.position)
    if (isNext) this.position += text.length
    return isNext
  }

  #field(): Step {
    const start = this.position
    while (!endsName.has(this.#text[this.position] ?? ''))
      this.position += this.#text[this.position] === '\\' ? 2 : 1
    const name = this.#text.slice(start, this.position)
    return name === '*' ? { kind: 'wildcard' } : { kind: 'field', name: name.replaceAll('\\', '') }
  }

  #word(): Step {
    const start = this.position
    while (!endsName.has(this.#text[this.position] ?? '')) this.position++
    const word = this.#text.slice(start, this.position)
    return word === 'true' || word === 'false'
      ? { kind: 'constant', value: word === 'true' }
      : { kind: 'word', word }
  }

  #number(): number {
    const [digits = ''] = /^[+-]?[\d.]*/.exec(this.#text.slice(this.position)) ?? []
    const value = /\d/.test(digits) ? Number(digits) : Number.NaN
    if (Number.isNaN(value)) throw this.#error(`${JSON.stringify(digits)} is not a number`)
    this.position += digits.length
    return value
  }

  #quoted(quote: string): string {
    const start = this.position++
    for (; this.#text[this.position] !== quote || this.#text[this.position - 1] === '\\'; this.position++)
      if (this.position >= this.#text.length || this.#text[this.position] === '\n')
        throw this.#error('a quotation mark is not closed')
    this.position++
    return unescaped(this.#text.slice(start + 1, this.position - 1), quote)
  }

  #brackets(): readonly Step[] {
    const close = this.#text.indexOf(']', this.position)
    const inside = close < 0 ? '\n' : this.#text.slice(this.position, close)
    if (inside.includes('\n')) throw this.#error('"[" is not closed')
    this.position = close + 1
    const members = inside.split(',')
    if (members.length > 1)
      return [{ kind: 'union', members: members.map(member => parsePath(`{[${member.trim()}]}`)) }]
    const key = /^'([^']*)'$/.exec(inside)
    if (key) return parsePath(`{.${key[1]}}`)
    return [{ kind: 'slice', slice: this.#slice(inside === '*' ? ':' : inside) }]
  }

  #slice(text: string): Slice {
    const match = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text)
    const numbers = match?.slice(1).map(part => part?.replace(':', '') || undefined)
    if (!match || !numbers || numbers.includes('-'))
      throw this.#error(`[${text}] is neither an index, nor a slice, nor a key in single quotes`)
    const [start, end, step] = numbers.map(digits => (digits === undefined ? undefined : Number(digits)))
    const isIndex = match[2] === undefined
    return { start: start ?? 0, end: isIndex ? (start ?? 0) + 1 : end, step, isIndex }
  }

  #filter(): Step {
    const start = this.position
    let quote = ''
    let isClosed = false
    for (; ; this.position++) {
      const next = this.#text[this.position] ?? '\n'
      if (next === '\n') throw this.#error('"[?(" is not closed')
      if ((next === '"' || next === "'") && quote === '') quote = next
      else if (next === quote && this.#text[this.position - 1] !== '\\') isClosed = true
      else if (next === ')' && (quote === '' || isClosed)) break
    }
    const inside = this.#text.slice(start, this.position++)
    if (!this.#skip(']')) throw this.#error('"]" must follow the ")" of a filter')
    const [, left, operator, right] = /^([^!<>=]+)([!<>=]+)(.+)$/.exec(inside) ?? []
    if (left === undefined || operator === undefined || right === undefined)
      return { kind: 'filter', filter: { left: parsePath(`{${inside}}`) } }
    return {
      kind: 'filter',
      filter: { left: parsePath(`{${left}}`), comparison: { operator, right: parsePath(`{${right}}`) } },
    }
  }

  #error(message: string): CommandError {
    return new CommandError(`cannot parse ${JSON.stringify(this.#text)}: ${message}`)
  }
}

const simpleEscapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
}

/** Replaces the escape sequences of Go. */
function unescaped(text: string, quote: string): string {
  return text.replace(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{3})|([\s\S]?))/g,
    (sequence, byte, short, long, octal, letter) => {
      const hex = byte ?? short ?? long
      if (hex !== undefined || octal !== undefined)
        return String.fromCodePoint(Number.parseInt(hex ?? octal, hex === undefined ? 8 : 16))
      const character = letter === quote ? quote : simpleEscapes[letter]
      if (character === undefined)
        throw new CommandError(
          `${JSON.stringify(text)} contains ${sequence}, which is not an escape sequence`,
        )
      return character
    },
  )
}
