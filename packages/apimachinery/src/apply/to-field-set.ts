// SPDX-License-Identifier: Apache-2.0

import { isJsonObject } from '../json-value.ts'
import { emptySet, type FieldSet, type FieldSetDraft, insertMember, leafEntry } from './field-set.ts'
import { type FieldType, type ListType, type MapType, memberType, shapeOf } from './field-type.ts'
import { elementOf } from './list-items.ts'
import { fieldElement, type PathElement } from './path-element.ts'

/** Returns all fields and items of a value: the fields that an applier owns. */
export function toFieldSet(value: unknown, type: FieldType): FieldSet {
  return below(value, type) ?? emptySet
}

/** Returns the set below a value, or undefined for an atomic value. */
function below(value: unknown, type: FieldType): FieldSet | undefined {
  switch (shapeOf(type, value)) {
    case 'map':
      return type.map!.atomic ? undefined : members(value, type.map!)
    case 'list':
      return type.list!.relation === 'atomic' ? undefined : items(value, type.list!)
    case 'scalar':
      return undefined
  }
}

function members(value: unknown, type: MapType): FieldSet {
  const set: FieldSetDraft = new Map()
  if (!isJsonObject(value)) return set
  for (const key of Object.keys(value)) {
    const inner = value[key]
    const counts =
      inner === null || !type.fields.has(key) || (isJsonObject(inner) && Object.keys(inner).length === 0)
    add(set, fieldElement(key), below(inner, memberType(type, key)), counts)
  }
  return set
}

function items(value: unknown, type: ListType): FieldSet {
  const set: FieldSetDraft = new Map()
  if (!Array.isArray(value)) return set
  const repeated = new Set<PathElement>()
  for (const item of value) {
    const element = elementOf(type, item)
    if (element === undefined) continue
    if (set.has(element)) repeated.add(element)
    else add(set, element, below(item, type.element), true)
  }
  // Items with duplicate keys cannot be distinguished, so they are owned together.
  for (const element of repeated) set.set(element, leafEntry)
  return set
}

function add(set: FieldSetDraft, element: PathElement, inner: FieldSet | undefined, counts: boolean): void {
  if (!inner) insertMember(set, element)
  else if (inner.size > 0) set.set(element, { member: counts, below: inner })
  else if (counts) insertMember(set, element)
}
