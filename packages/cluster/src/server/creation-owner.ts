// SPDX-License-Identifier: Apache-2.0

// The creator of an object owns all its fields, whatever the values are. Objects from one template differ
// only in values, so their field sets are computed once and shared. Without this, field sets would take most
// of the time and memory of managedFields.
import {
  type FieldType,
  isJsonObject,
  type JsonObject,
  type ManagedFieldsEntry,
  type OwnedKind,
  trackUpdate,
} from '@grove/apimachinery'
import { deepFreeze, type KubeObject } from '../object.ts'
import type { FieldWrite } from './field-ownership.ts'

/** The number of shapes that are remembered per kind. The oldest is dropped first. */
const rememberedShapes = 1000

const fieldsByShape = new WeakMap<OwnedKind, Map<string, JsonObject>>()

/** `trackUpdate` for a new object of a built-in kind. */
export function creationOwner(
  kind: OwnedKind,
  draft: KubeObject,
  { manager, now }: FieldWrite,
): readonly ManagedFieldsEntry[] | undefined {
  const shapes = shapesOf(kind)
  const shape = describeShape(draft, kind.type)
  const known = shapes.get(shape)
  if (known)
    return [
      {
        manager,
        operation: 'Update',
        apiVersion: kind.apiVersion,
        time: now,
        fieldsType: 'FieldsV1',
        fieldsV1: known,
      },
    ]
  const entries = trackUpdate({ kind, live: undefined, object: draft, manager, time: now })
  const fields = entries?.length === 1 ? entries[0]!.fieldsV1 : undefined
  if (fields) {
    shapes.set(shape, deepFreeze(fields))
    if (shapes.size > rememberedShapes) shapes.delete(shapes.keys().next().value!)
  }
  return entries
}

function shapesOf(kind: OwnedKind): Map<string, JsonObject> {
  let shapes = fieldsByShape.get(kind)
  if (!shapes) {
    shapes = new Map()
    fieldsByShape.set(kind, shapes)
  }
  return shapes
}

/**
 * Returns everything that determines the field set of a new object: its members, the keys of list items, and
 * which values are zero.
 */
function describeShape(value: unknown, type: FieldType): string {
  if (Array.isArray(value)) return describeList(value, type)
  if (isJsonObject(value)) return describeMembers(value, type)
  // A zero may be the default of the empty object. In that case the creator does not own the field.
  return value === null || value === '' || value === 0 || value === '0' || value === false ? '0' : '1'
}

function describeMembers(value: JsonObject, { map }: FieldType): string {
  if (!map || map.atomic) return Object.keys(value).length === 0 ? 'm' : 'M'
  let shape = '{'
  for (const key of Object.keys(value)) {
    const type = map.fields.get(key)?.type ?? map.element
    shape += `${key.length}:${key}${type ? describeShape(value[key], type) : '?'}`
  }
  return `${shape}}`
}

function describeList(value: readonly unknown[], { list }: FieldType): string {
  if (!list || list.relation === 'atomic') return value.length === 0 ? 'l' : 'L'
  let shape = '['
  for (const item of value) {
    if (list.relation === 'set' || !isJsonObject(item)) shape += `${JSON.stringify(item)},`
    else {
      for (const key of list.keys) shape += `${JSON.stringify(item[key])},`
      shape += describeShape(item, list.element)
    }
  }
  return `${shape}]`
}
