// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject, setOwn } from '../json-value.ts'
import type { FieldSet } from './field-set.ts'
import { type FieldType, type ListType, type MapType, memberType, shapeOf } from './field-type.ts'
import { elementOf } from './list-items.ts'
import { fieldElement } from './path-element.ts'

/**
 * Removes the fields and items of a set. A container that loses all its items becomes null. Decoding turns
 * null into absent for types without null.
 */
export function removeItems(value: unknown, set: FieldSet, type: FieldType): unknown {
  if (set.size === 0) return value
  switch (shapeOf(type, value)) {
    case 'map':
      return isJsonObject(value) && !type.map!.atomic ? removeMembers(value, set, type.map!) : null
    case 'list':
      return Array.isArray(value) && type.list!.relation !== 'atomic'
        ? removeFromList(value, set, type.list!)
        : null
    case 'scalar':
      return value
  }
}

function removeMembers(value: JsonObject, set: FieldSet, type: MapType): JsonObject | null {
  const kept: JsonObject = {}
  let some = false
  for (const key of Object.keys(value)) {
    const entry = set.get(fieldElement(key))
    if (entry?.member) continue
    some = true
    setOwn(kept, key, entry?.below ? removeItems(value[key], entry.below, memberType(type, key)) : value[key])
  }
  return some ? kept : null
}

function removeFromList(value: readonly unknown[], set: FieldSet, type: ListType): unknown[] | null {
  const kept: unknown[] = []
  for (const item of value) {
    const element = elementOf(type, item)
    const entry = element === undefined ? undefined : set.get(element)
    if (!entry?.member) kept.push(entry?.below ? removeItems(item, entry.below, type.element) : item)
  }
  return kept.length > 0 ? kept : null
}
