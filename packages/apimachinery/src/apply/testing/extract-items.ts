// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject, setOwn } from '../../json-value.ts'
import { type FieldSet, type FieldSetDraft, leafEntry } from '../field-set.ts'
import { type FieldType, type ListType, type MapType, memberType, shapeOf } from '../field-type.ts'
import { elementOf } from '../list-items.ts'
import { fieldElement } from '../path-element.ts'

/** Keeps only the fields and items of a set, including item keys. Returns undefined if the value has none. */
export function extractItems(value: unknown, set: FieldSet, type: FieldType): unknown {
  return extract(value, leaves(set), type)
}

function extract(value: unknown, set: FieldSet, type: FieldType): unknown {
  switch (shapeOf(type, value)) {
    case 'map':
      return isJsonObject(value) ? extractMembers(value, set, type.map!) : value
    case 'list':
      return Array.isArray(value) ? extractFromList(value, set, type.list!) : value
    case 'scalar':
      return value
  }
}

function extractMembers(value: JsonObject, set: FieldSet, type: MapType): JsonObject | undefined {
  if (type.atomic || Object.keys(value).length === 0) return value
  const kept: JsonObject = {}
  let some = false
  for (const key of Object.keys(value)) {
    const entry = set.get(fieldElement(key))
    if (!entry) continue
    const inner = extract(value[key], entry.below ?? new Map(), memberType(type, key))
    if (inner === undefined && !entry.member) continue
    some = true
    setOwn(kept, key, inner ?? {})
  }
  return some ? kept : undefined
}

function extractFromList(value: readonly unknown[], set: FieldSet, type: ListType): unknown[] | undefined {
  if (type.relation === 'atomic' || value.length === 0) return value as unknown[]
  const kept: unknown[] = []
  for (const item of value) {
    const element = elementOf(type, item)
    const entry = element === undefined ? undefined : set.get(element)
    if (!entry) continue
    kept.push(entry.below ? withKeys(item, extract(item, entry.below, type.element), type) : item)
  }
  return kept.length > 0 ? kept : undefined
}

function withKeys(item: unknown, extracted: unknown, type: ListType): JsonObject {
  const result: JsonObject = isJsonObject(extracted) ? { ...extracted } : {}
  if (isJsonObject(item))
    for (const key of type.keys) if (Object.hasOwn(item, key)) setOwn(result, key, item[key])
  return result
}

/** Returns the members without members below. */
function leaves(set: FieldSet): FieldSet {
  const result: FieldSetDraft = new Map()
  for (const [element, { below }] of set)
    result.set(element, below ? { member: false, below: leaves(below) } : leafEntry)
  return result
}
