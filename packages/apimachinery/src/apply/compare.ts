// SPDX-License-Identifier: Apache-2.0

import { equalJson, isJsonObject, type JsonObject } from '../json-value.ts'
import { type FieldSet, type FieldSetDraft, insertPath } from './field-set.ts'
import { type FieldType, type ListType, type MapType, memberType, type Shape, shapeOf } from './field-type.ts'
import { elementOf } from './list-items.ts'
import { fieldElement, type PathElement } from './path-element.ts'

/** The sets are disjoint. If all are empty, the objects are semantically equal. */
export interface Comparison {
  readonly added: FieldSet
  readonly removed: FieldSet
  readonly modified: FieldSet
}

export function compare(old: unknown, current: unknown, type: FieldType): Comparison {
  const walk = new Walk()
  walk.value(old, current, type)
  return walk
}

/** Undefined means absent. */
class Walk implements Comparison {
  readonly added: FieldSetDraft = new Map()
  readonly removed: FieldSetDraft = new Map()
  readonly modified: FieldSetDraft = new Map()
  readonly path: PathElement[] = []

  value(old: unknown, current: unknown, type: FieldType): void {
    if (old === current) return
    const oldShape = shapeOf(type, old)
    const shape = shapeOf(type, current)
    let whole: boolean
    if (current === undefined) whole = this.shaped(oldShape, old, current, type)
    else {
      // A value that had another shape leaves its old parts behind. They are no longer owned.
      if (old !== undefined && oldShape !== shape) this.shaped(oldShape, old, current, type)
      whole = this.shaped(shape, old, current, type)
    }
    if (whole) return
    if (old === undefined) insertPath(this.added, this.path)
    else if (current === undefined) insertPath(this.removed, this.path)
  }

  /** Returns true if the value was compared as a whole. */
  shaped(shape: Shape, old: unknown, current: unknown, type: FieldType): boolean {
    if (shape === 'map') return this.map(old, current, type.map!)
    if (shape === 'list') return this.list(old, current, type.list!)
    return this.leaf(old, current)
  }

  leaf(old: unknown, current: unknown): true {
    if (old === undefined) insertPath(this.added, this.path)
    else if (current === undefined) insertPath(this.removed, this.path)
    else if (!equalJson(old, current)) insertPath(this.modified, this.path)
    return true
  }

  map(old: unknown, current: unknown, type: MapType): boolean {
    const before = membersOf(old)
    const after = membersOf(current)
    // Two empty values are compared as a whole, to distinguish null and {}.
    if (type.atomic || (!before && !after)) return this.leaf(old, current)
    if (before)
      for (const key of Object.keys(before))
        this.below(
          fieldElement(key),
          before[key],
          after && Object.hasOwn(after, key) ? after[key] : undefined,
          memberType(type, key),
        )
    if (after)
      for (const key of Object.keys(after))
        if (!before || !Object.hasOwn(before, key))
          this.below(fieldElement(key), undefined, after[key], memberType(type, key))
    return false
  }

  list(old: unknown, current: unknown, type: ListType): boolean {
    const before = itemsOf(old)
    const after = itemsOf(current)
    if (type.relation === 'atomic' || (!before && !after)) return this.leaf(old, current)
    const oldItems = group(type, before)
    const newItems = group(type, after)
    for (const [element, items] of oldItems)
      this.items(element, items, newItems.get(element) ?? [], type.element)
    for (const [element, items] of newItems)
      if (!oldItems.has(element)) this.items(element, [], items, type.element)
    return false
  }

  /** Compares the items with the same keys. Several items with the same keys count as one atomic value. */
  items(element: PathElement, old: readonly unknown[], current: readonly unknown[], type: FieldType): void {
    if (old.length <= 1 && current.length <= 1) {
      this.below(element, old[0], current[0], type)
      return
    }
    if (old.length >= 2 && current.length >= 2) {
      if (!equalJson(old, current)) insertPath(this.modified, [...this.path, element])
      return
    }
    if (old.length >= 2) {
      if (current.length > 0) this.below(element, undefined, current[0], type)
      insertPath(this.removed, [...this.path, element])
      return
    }
    if (old.length > 0) this.below(element, old[0], undefined, type)
    insertPath(this.added, [...this.path, element])
  }

  below(element: PathElement, old: unknown, current: unknown, type: FieldType): void {
    if (old === current) return
    this.path.push(element)
    this.value(old, current, type)
    this.path.pop()
  }
}

function membersOf(value: unknown): JsonObject | undefined {
  return isJsonObject(value) && Object.keys(value).length > 0 ? value : undefined
}

function itemsOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) && value.length > 0 ? value : undefined
}

function group(type: ListType, list: readonly unknown[] | undefined): Map<PathElement, unknown[]> {
  const groups = new Map<PathElement, unknown[]>()
  for (const item of list ?? []) {
    const element = elementOf(type, item)
    if (element === undefined) continue
    const known = groups.get(element)
    if (known) known.push(item)
    else groups.set(element, [item])
  }
  return groups
}
