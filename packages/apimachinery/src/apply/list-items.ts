// SPDX-License-Identifier: Apache-2.0

import { isJsonObject } from '../json-value.ts'
import type { ListType } from './field-type.ts'
import { compareGoText, goQuote } from './go-text.ts'
import { keyElement, type PathElement, valueElement } from './path-element.ts'

/** The names of the keys in the order in which an element lists them. */
const sortedKeys = new WeakMap<ListType, readonly string[]>()

/** How the item of a set or keyed list is found again, or a sentence about why it cannot be. */
export function itemElement(list: ListType, item: unknown): PathElement | { readonly error: string } {
  return list.relation === 'map' ? keyedElement(list, item) : setElement(item)
}

/** As `itemElement`, for lists that are known to be valid. */
export function elementOf(list: ListType, item: unknown): PathElement | undefined {
  const element = itemElement(list, item)
  return typeof element === 'string' ? element : undefined
}

function keyedElement(list: ListType, item: unknown): PathElement | { readonly error: string } {
  if (item === null) return { error: 'associative list with keys may not have a null element' }
  if (!isJsonObject(item)) return { error: 'associative list with keys may not have non-map elements' }
  const keys: [string, unknown][] = []
  for (const name of keysInOrder(list)) {
    if (Object.hasOwn(item, name)) {
      keys.push([name, item[name]])
      continue
    }
    const fallback = list.element.map?.fields.get(name)?.default
    // A key without a default that is left out makes another item than one that has it.
    if (fallback !== undefined && fallback !== null) keys.push([name, fallback])
  }
  if (keys.length > 0) return keyElement(keys)
  const names = list.keys.map(goQuote).join(' ')
  return {
    error: `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
  }
}

function keysInOrder(list: ListType): readonly string[] {
  let keys = sortedKeys.get(list)
  if (!keys) {
    keys = [...list.keys].sort(compareGoText)
    sortedKeys.set(list, keys)
  }
  return keys
}

function setElement(item: unknown): PathElement | { readonly error: string } {
  if (isJsonObject(item)) return { error: "associative list without keys has an element that's a map type" }
  if (Array.isArray(item)) return { error: 'not supported: associative list with lists as elements' }
  if (item === null) return { error: "associative list without keys has an element that's an explicit null" }
  return valueElement(item)
}
