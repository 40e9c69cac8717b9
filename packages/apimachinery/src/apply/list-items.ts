// SPDX-License-Identifier: Apache-2.0

import { isJsonObject } from '../json-value.ts'
import { quote } from '../quote.ts'
import type { ListType } from './field-type.ts'
import { compareGoText, goJson, goJsonString } from './go-text.ts'
import { type PathElement, valueElement } from './path-element.ts'

interface ListKey {
  readonly name: string
  /** `"name":` */
  readonly prefix: string
  /** The JSON of the default of an absent key; undefined without a default. */
  readonly fallback: string | undefined
}

/** The keys in the order of the path element. */
const keysOfLists = new WeakMap<ListType, readonly ListKey[]>()

function keysOf(list: ListType): readonly ListKey[] {
  let keys = keysOfLists.get(list)
  if (!keys) {
    keys = [...list.keys].sort(compareGoText).map(name => {
      const fallback = list.element.map?.fields.get(name)?.default
      const absent = fallback === undefined || fallback === null
      return { name, prefix: `${goJsonString(name)}:`, fallback: absent ? undefined : goJson(fallback) }
    })
    keysOfLists.set(list, keys)
  }
  return keys
}

/** Returns why an item cannot be identified; undefined if it can. */
export function itemProblem(list: ListType, item: unknown): string | undefined {
  if (list.relation !== 'map') {
    if (typeof item !== 'object') return undefined
    if (item === null) return "associative list without keys has an element that's an explicit null"
    if (Array.isArray(item)) return 'not supported: associative list with lists as elements'
    return "associative list without keys has an element that's a map type"
  }
  if (item === null) return 'associative list with keys may not have a null element'
  if (!isJsonObject(item)) return 'associative list with keys may not have non-map elements'
  if (keysOf(list).some(({ name, fallback }) => fallback !== undefined || Object.hasOwn(item, name)))
    return undefined
  const names = list.keys.map(quote).join(' ')
  return `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`
}

/** Returns the path element of an item of a set or keyed list; undefined if it cannot be identified. */
export function elementOf(list: ListType, item: unknown): PathElement | undefined {
  if (list.relation !== 'map') return typeof item === 'object' ? undefined : valueElement(item)
  if (!isJsonObject(item)) return undefined
  let keys = ''
  for (const { name, prefix, fallback } of keysOf(list)) {
    // An absent key without a default identifies another item than a present key.
    const text = Object.hasOwn(item, name) ? goJson(item[name]) : fallback
    if (text !== undefined) keys += keys === '' ? prefix + text : `,${prefix}${text}`
  }
  return keys === '' ? undefined : (`k:{${keys}}` as PathElement)
}
