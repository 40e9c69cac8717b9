// SPDX-License-Identifier: Apache-2.0

// Converts ownership of the parts of a field to ownership of the whole field, after its type became atomic.
import { type FieldEntry, type FieldSet, type FieldSetDraft, leafEntry } from './field-set.ts'
import { deduced, type FieldType, type MapType } from './field-type.ts'
import { fieldNameOf, type PathElement } from './path-element.ts'

/** Sets that conform to a type. Types and sets are immutable. */
const fitting = new WeakMap<FieldSet, FieldType>()

/** Returns the same set if nothing changes. */
export function reconcileWithType(set: FieldSet, type: FieldType): FieldSet {
  if (fitting.get(set) === type) return set
  const reconciled = reconcile(set, type)
  fitting.set(reconciled, type)
  return reconciled
}

function reconcile(set: FieldSet, type: FieldType): FieldSet {
  if (type.map) return isFreeForm(type.map) ? set : reconcileBelow(set, element => typeAt(type.map!, element))
  if (type.scalar || !type.list) return set
  return reconcileBelow(set, () => type.list!.element)
}

function reconcileBelow(set: FieldSet, typeOf: (element: PathElement) => FieldType | undefined): FieldSet {
  let result: FieldSetDraft | undefined
  for (const [element, entry] of set) {
    const type = entry.below && typeOf(element)
    if (!type) continue
    const reconciled = reconcileEntry(entry, type)
    if (reconciled === entry) continue
    result ??= new Map(set)
    result.set(element, reconciled)
  }
  return result ?? set
}

function reconcileEntry(entry: FieldEntry, type: FieldType): FieldEntry {
  if (type.map ? type.map.atomic && !isFreeForm(type.map) : !type.scalar && type.list?.relation === 'atomic')
    return leafEntry
  const below = reconcile(entry.below!, type)
  return below === entry.below ? entry : { member: entry.member, below }
}

function typeAt(map: MapType, element: PathElement): FieldType | undefined {
  const name = fieldNameOf(element)
  return (name === undefined ? undefined : map.fields.get(name)?.type) ?? map.element
}

/** Free-form data has no declared fields, so its declaration cannot have changed. */
function isFreeForm(map: MapType): boolean {
  return map.fields.size === 0 && (map.element === deduced || map.element?.scalar === 'untyped')
}
