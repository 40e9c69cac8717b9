// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject } from '../json-value.ts'
import { quote } from '../quote.ts'
import { compareGoText, goJson, goJsonString } from './go-text.ts'

declare const pathElement: unique symbol

/**
 * One step of a field path, in the format of managedFields: `f:name` is a field, `k:{"name":"a"}` a list item
 * with those keys, `v:"a"` an item of a set, `i:0` a position. The text is canonical, so that elements can be
 * compared and used as map keys.
 */
export type PathElement = string & { readonly [pathElement]: true }

export type FieldPath = readonly PathElement[]

/** A cache of frequent names. A lookup is faster than building and hashing a new string. */
const keptElements = new Map<string, PathElement>()
const keptElementsLimit = 20_000

export function fieldElement(name: string): PathElement {
  let element = keptElements.get(name)
  if (element === undefined) {
    element = `f:${name}` as PathElement
    if (keptElements.size < keptElementsLimit) keptElements.set(name, element)
  }
  return element
}

export function valueElement(value: unknown): PathElement {
  return `v:${goJson(value)}` as PathElement
}

export function indexElement(index: number): PathElement {
  return `i:${index}` as PathElement
}

/** The keys must be sorted by name. */
export function keyElement(keys: readonly (readonly [name: string, value: unknown])[]): PathElement {
  let text = 'k:{'
  for (const [name, value] of keys)
    text += `${text.length > 3 ? ',' : ''}${goJsonString(name)}:${goJson(value)}`
  return `${text}}` as PathElement
}

/** Returns the name of a field element; undefined for other elements. */
export function fieldNameOf(element: PathElement): string | undefined {
  return element.startsWith('f:') ? element.slice(2) : undefined
}

export function isKeyElement(element: PathElement): boolean {
  return element.startsWith('k:')
}

const plainValue = String.raw`(?:"[\w .:/@+-]*"|true|false|0|[1-9]\d{0,14})`
const canonicalValue = new RegExp(`^v:${plainValue}$`)
const canonicalKey = new RegExp(String.raw`^k:\{"([\w.-]+)":${plainValue}(?:,"([\w.-]+)":${plainValue})?\}$`)

/** Reports whether a text is certainly canonical. Other texts are parsed and formatted again. */
function isCanonical(text: string): boolean {
  if (text[0] === 'v') return canonicalValue.test(text)
  const keys = canonicalKey.exec(text)
  return keys !== null && (keys[2] === undefined || keys[1]! < keys[2])
}

/** Parses a stored element. Returns undefined for unknown element types, and throws on malformed ones. */
export function parsePathElement(text: string): PathElement | undefined {
  if (text.startsWith('f:')) return text as PathElement
  if (text.length < 2) throw new SyntaxError('key must be 2 characters long:')
  if (text[1] !== ':') throw new SyntaxError(`missing colon: ${text}`)
  if (isCanonical(text)) return text as PathElement
  const rest = text.slice(2)
  switch (text[0]) {
    case 'v':
      return valueElement(JSON.parse(rest))
    case 'k': {
      const keys: unknown = JSON.parse(rest)
      if (!isJsonObject(keys)) throw new SyntaxError(`expected an object of keys, got ${rest}`)
      return keyElement(sortedEntries(keys))
    }
    case 'i':
      if (!/^[+-]?\d+$/.test(rest))
        throw new SyntaxError(`strconv.Atoi: parsing ${quote(rest)}: invalid syntax`)
      return indexElement(Number(rest))
    default:
      return undefined
  }
}

/** `.name`, `[name="a",port=80]`, `[="a"]`, `[0]` */
export function describeElement(element: PathElement): string {
  const rest = element.slice(2)
  switch (element[0]) {
    case 'f':
      return `.${rest}`
    case 'k': {
      const keys = sortedEntries(JSON.parse(rest) as JsonObject)
      return `[${keys.map(([name, value]) => `${name}=${describeValue(value)}`).join(',')}]`
    }
    case 'v':
      return `[=${describeValue(JSON.parse(rest))}]`
    default:
      return `[${rest}]`
  }
}

export function describePath(path: FieldPath): string {
  return path.map(describeElement).join('')
}

function describeValue(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `[${value.map(describeValue).join(',')}]`
  if (isJsonObject(value))
    return sortedEntries(value)
      .map(([name, inner]) => `${name}=${describeValue(inner)}`)
      .join('')
  return String(value)
}

/** Sorts like the API server: fields, keys, values, positions. */
export function sortElements(elements: Iterable<PathElement>): PathElement[] {
  const fields: PathElement[] = []
  const rest: PathElement[] = []
  for (const element of elements) (element.startsWith('f:') ? fields : rest).push(element)
  fields.sort(compareGoText)
  if (rest.length === 0) return fields
  return [...fields, ...(rest.every(isPlainKey) ? rest.sort() : sortByValue(rest))]
}

const plainKey = /^k:\{"[\w.-]+":"[\w.-]*"\}$/

/**
 * Reports whether the element has one key with a string in which every character sorts after the quote. Such
 * elements sort like their text.
 */
function isPlainKey(element: PathElement): boolean {
  return plainKey.test(element)
}

function sortByValue(elements: readonly PathElement[]): readonly PathElement[] {
  if (elements.length === 1) return elements
  const others = elements.map(element => ({
    element,
    rank: 'kvi'.indexOf(element[0]!),
    value: JSON.parse(element.slice(2)) as unknown,
  }))
  others.sort(
    (a, b) =>
      a.rank - b.rank || (a.rank === 0 ? compareKeys(a.value, b.value) : compareValues(a.value, b.value)),
  )
  return others.map(other => other.element)
}

function compareKeys(a: unknown, b: unknown): number {
  const left = sortedEntries(a as JsonObject)
  const right = sortedEntries(b as JsonObject)
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const order = compareGoText(left[i]![0], right[i]![0]) || compareValues(left[i]![1], right[i]![1])
    if (order !== 0) return order
  }
  return left.length - right.length
}

/** Order: numbers, strings, booleans, lists, objects, null. */
function compareValues(a: unknown, b: unknown): number {
  const rank = rankOf(a) - rankOf(b)
  if (rank !== 0) return rank
  if (typeof a === 'number') return a - (b as number)
  if (typeof a === 'string') return compareGoText(a, b as string)
  if (typeof a === 'boolean') return Number(a) - Number(b)
  return compareGoText(goJson(a), goJson(b))
}

function rankOf(value: unknown): number {
  if (typeof value === 'number') return 0
  if (typeof value === 'string') return 1
  if (typeof value === 'boolean') return 2
  if (Array.isArray(value)) return 3
  return isJsonObject(value) ? 4 : 5
}

function sortedEntries(keys: JsonObject): [string, unknown][] {
  return Object.entries(keys).sort(([a], [b]) => compareGoText(a, b))
}
