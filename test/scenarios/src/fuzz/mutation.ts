// SPDX-License-Identifier: Apache-2.0

// Random damage to a JSON document: fields removed, retyped, repeated, and filled with boundary values.

export type Below = (limit: number) => number

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
type Container = Json[] | { [name: string]: Json }

/**
 * The longest text and list that a mutation inserts: long enough to expose a quadratic rule, short enough to be
 * frequent.
 */
const longText = 20_000
const longList = 400
/** Later repetitions in the same document are short. Nested long ones would use all memory. */
const shortList = 4

const strangeTexts: readonly string[] = [
  '',
  ' ',
  '\u0000',
  '\u001b]0;owned\u0007\u001b[2J',
  '..',
  '-',
  '0',
  '00',
  '-1',
  '999999999999999999999',
  '1e99999999',
  '1E400Gi',
  '9223372036854775808',
  'null',
  '__proto__',
  'constructor',
  'toString',
  '\ud800',
  'ÄÖ-字-🦊',
  'a'.repeat(64),
  'a-0-1-2-3-4-5-6-7-8-9',
  'x'.repeat(254),
  '{{.}}',
  '%s%n%x',
  'a/b/c',
  'grove.io/podclique',
]

const strangeNumbers: readonly number[] = [
  0,
  -1,
  1,
  2,
  255,
  65_536,
  2_147_483_647,
  2_147_483_648,
  -2_147_483_649,
  2 ** 53,
  1e308,
  -1e308,
  0.5,
  1e-9,
]

/** Returns a copy of the document with the given number of mutations. */
export function mutated<T>(document: T, below: Below, count: number): T {
  const root = { document: structuredClone(document) as Json }
  for (let done = 0; done < count; done++) mutateOnce(root, below, done === 0 ? longList : shortList)
  return root.document as T
}

function mutateOnce(root: { document: Json }, below: Below, mostCopies: number): void {
  let container: Container = root
  let key: string | number = 'document'
  // Descends at random, so that deep mutations are as likely as shallow ones.
  for (;;) {
    const value: Json | undefined = (container as Record<string | number, Json>)[key]
    if (typeof value !== 'object' || value === null) break
    const keys: (string | number)[] = Array.isArray(value) ? [...value.keys()] : Object.keys(value)
    if (keys.length === 0 || below(6) === 0) break
    container = value
    key = keys[below(keys.length)] ?? 0
  }
  damage(container, key, below, mostCopies)
}

function damage(container: Container, key: string | number, below: Below, mostCopies: number): void {
  const object = container as Record<string | number, Json>
  const value = object[key] ?? null
  switch (below(8)) {
    case 0:
      if (Array.isArray(container)) container.splice(Number(key), 1)
      else if (key !== 'document') delete object[key]
      return
    case 1:
      if (Array.isArray(container)) container.splice(Number(key), 0, structuredClone(value))
      else setOwn(container, strangeTexts[below(strangeTexts.length)] ?? '', structuredClone(value))
      return
    case 2:
      if (Array.isArray(container)) repeat(container, value, below(mostCopies))
      else object[key] = Array.from({ length: below(mostCopies) }, () => structuredClone(value))
      return
    case 3:
      object[key] = { [String(key)]: value }
      return
    case 4:
      object[key] = 'a'.repeat(below(longText))
      return
    default:
      object[key] = strangeValue(below)
  }
}

/** Repeats a list entry. Named entries get numbered names, so that rules about names see many of them. */
function repeat(list: Json[], value: Json, copies: number): void {
  for (let index = copies; index > 0; index--) {
    const copy = structuredClone(value)
    if (typeof copy === 'object' && copy !== null && !Array.isArray(copy) && typeof copy.name === 'string')
      copy.name = `${copy.name.slice(0, 40)}-${index}`
    list.push(copy)
  }
}

/** Defines the member even where an assignment would reach a setter such as `__proto__`. */
function setOwn(object: Container, name: string, value: Json): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
}

export function strangeValue(below: Below): Json {
  switch (below(6)) {
    case 0:
      return null
    case 1:
      return strangeNumbers[below(strangeNumbers.length)] ?? 0
    case 2:
      return below(2) === 0
    case 3:
      return []
    case 4:
      return {}
    default:
      return strangeTexts[below(strangeTexts.length)] ?? ''
  }
}

export function strangeText(below: Below): string {
  return strangeTexts[below(strangeTexts.length)] ?? ''
}
