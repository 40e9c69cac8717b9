// SPDX-License-Identifier: Apache-2.0

/** Selects the member of this name, or every element of an array. */
export type Step = Buffer | 'elements'

/**
 * Removes the members at a path from a JSON text. Everything else stays as it is, also invalid JSON: the parser
 * reports it, except inside the removed members. Not promised: that every such member is removed. A member whose name
 * is escaped or given twice may stay.
 */
export function cutMembers(bytes: Buffer, path: readonly Step[]): string {
  let text = ''
  let from = 0
  for (const [begin, end] of new Scan(bytes, path).cuts) {
    text += bytes.toString('utf8', from, begin)
    from = end
  }
  return text + bytes.toString('utf8', from)
}

/** Returns the text of the first member at a path, including its name; undefined if there is none. */
export function memberAt(bytes: Buffer, path: readonly Step[]): string | undefined {
  const [cut] = new Scan(bytes, path).cuts
  return cut && bytes.toString('utf8', cut[0], cut[1])
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
const lastWhitespace = 0x20

/**
 * Walks through the bytes. Each method consumes the item at the current position. It returns false if the walk need
 * not or cannot continue.
 */
class Scan {
  /** Start and end of each member, with one adjacent comma. */
  readonly cuts: (readonly [begin: number, end: number])[] = []
  readonly #bytes: Buffer
  readonly #path: readonly Step[]
  readonly #leadsToOne: boolean
  #at = 0

  constructor(bytes: Buffer, path: readonly Step[]) {
    this.#bytes = bytes
    this.#path = path
    this.#leadsToOne = !path.includes('elements')
    this.#walk(0)
  }

  /** Consumes a value that is reached by the first `depth` steps. */
  #walk(depth: number): boolean {
    const step = this.#path[depth]
    const first = this.#next()
    if (step === 'elements' && first === openBracket) return this.#walkElements(depth)
    if (step instanceof Buffer && first === openBrace) return this.#walkMembers(depth, step)
    return this.#skipValue()
  }

  #walkElements(depth: number): boolean {
    this.#at++
    while (this.#next() !== closeBracket) {
      if (!this.#walk(depth + 1)) return false
      if (this.#next() === comma) this.#at++
      else if (this.#next() !== closeBracket) return false
    }
    this.#at++
    return true
  }

  #walkMembers(depth: number, wanted: Buffer): boolean {
    const isLastStep = depth === this.#path.length - 1
    let commaBefore: number | undefined
    this.#at++
    while (this.#next() !== closeBrace) {
      const nameAt = this.#at
      const isWanted = this.#isNamed(wanted)
      if (!this.#skipString() || this.#next() !== colon) return false
      this.#at++
      if (!(isWanted && !isLastStep ? this.#walk(depth + 1) : this.#skipValue())) return false
      const hasNext = this.#next() === comma
      if (!hasNext && this.#next() !== closeBrace) return false
      if (isWanted && isLastStep) {
        if (commaBefore !== undefined || !hasNext) this.cuts.push([commaBefore ?? nameAt, this.#at])
        else if (this.#memberFollows()) this.cuts.push([nameAt, this.#at])
        return !this.#leadsToOne && this.#skipNested(1)
      }
      commaBefore = this.#at
      if (hasNext) this.#at++
    }
    this.#at++
    return true
  }

  /** Consumes a comma. Returns false if no member follows, because the parser must report that error. */
  #memberFollows(): boolean {
    this.#at++
    return this.#next() === quote
  }

  /** Reports whether the string at the current position has exactly these bytes. */
  #isNamed(wanted: Buffer): boolean {
    const begin = this.#at + 1
    const end = begin + wanted.length
    if (this.#bytes[end] !== quote) return false
    return this.#bytes.compare(wanted, 0, wanted.length, begin, end) === 0
  }

  #skipValue(): boolean {
    const first = this.#next()
    if (first === quote) return this.#skipString()
    if (first === openBrace || first === openBracket) return this.#skipNested(0)
    const begin = this.#at
    while (isInScalar(this.#bytes[this.#at])) this.#at++
    return this.#at > begin
  }

  /** Moves behind the bracket that closes the outermost open one. */
  #skipNested(open: number): boolean {
    const bytes = this.#bytes
    const { length } = bytes
    let depth = open
    for (let at = this.#at; at < length; at++) {
      const byte = bytes[at]
      if (byte === quote) at = endOfString(bytes, at)
      else if (byte === openBrace || byte === openBracket) depth++
      else if ((byte === closeBrace || byte === closeBracket) && --depth === 0) {
        this.#at = at + 1
        return true
      }
    }
    return false
  }

  #skipString(): boolean {
    if (this.#bytes[this.#at] !== quote) return false
    this.#at = endOfString(this.#bytes, this.#at) + 1
    return this.#at <= this.#bytes.length
  }

  /** Returns the next byte that is not whitespace; undefined at the end. */
  #next(): number | undefined {
    while (this.#bytes[this.#at]! <= lastWhitespace) this.#at++
    return this.#bytes[this.#at]
  }
}

/** Returns the position of the closing quote, or the end of the text. */
function endOfString(bytes: Buffer, begin: number): number {
  const { length } = bytes
  let at = begin + 1
  while (at < length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return Math.min(at, length)
}

/** Reports whether the byte is part of a number or literal. */
function isInScalar(byte: number | undefined): boolean {
  return (
    byte !== undefined &&
    byte > lastWhitespace &&
    byte !== comma &&
    byte !== closeBracket &&
    byte !== closeBrace
  )
}
