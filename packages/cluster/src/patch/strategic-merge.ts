// SPDX-License-Identifier: Apache-2.0

// Strategic merge patches: like merge patches, but lists of objects are merged by a key that the type of the field
// names, and directives in the patch say where that is not wanted.
import { equalJson, isJsonObject, type JsonObject } from '@grove/apimachinery'
import type { Field, FieldType, StructType } from '../schema/type-table.ts'
import { mergeKeyedList, mergeScalarList, orderList } from './strategic-list.ts'

export class StrategicMergeError extends Error {}

const directive = '$patch'
const retainKeys = '$retainKeys'
const deleteFromPrimitiveList = '$deleteFromPrimitiveList/'
const setElementOrder = '$setElementOrder/'

/** The type that a value has, where it is known; inside free-form data nothing is. */
export type MergeType = StructType | undefined

/** Does not change its inputs. */
export function applyStrategicMerge(original: JsonObject, patch: JsonObject, type: MergeType): JsonObject {
  const how = patch[directive]
  if (how === 'replace') return withoutDirectives(patch)
  if (how === 'delete') return {}
  if (how !== undefined && how !== 'merge')
    throw new StrategicMergeError(`Unknown patch type found: ${String(how)}`)

  const result: JsonObject = { ...original }
  const retained = patch[retainKeys]
  if (Array.isArray(retained))
    for (const key of Object.keys(result)) if (!retained.includes(key)) delete result[key]
  for (const [key, value] of Object.entries(patch)) {
    if (key === directive || key === retainKeys || key.startsWith(setElementOrder)) continue
    if (key.startsWith(deleteFromPrimitiveList)) {
      removeScalars(result, key.slice(deleteFromPrimitiveList.length), value)
      continue
    }
    if (value === null) {
      delete result[key]
      continue
    }
    result[key] = mergeField(result[key], value, type?.fields.get(key))
  }
  applyOrders(result, original, patch, type)
  return result
}

function mergeField(current: unknown, patch: unknown, field: Field | undefined): unknown {
  const replaces = field?.patchStrategies.includes('replace') ?? false
  if (isJsonObject(patch)) {
    if (replaces) return withoutDirectives(patch)
    return applyStrategicMerge(isJsonObject(current) ? current : {}, patch, structOf(field?.type))
  }
  if (Array.isArray(patch)) {
    if (!field?.patchStrategies.includes('merge')) return patch.map(stripped)
    const list = Array.isArray(current) ? current : []
    if (field.patchMergeKey) return mergeKeyedList(list, patch, field.patchMergeKey, elementType(field))
    return mergeScalarList(list, patch)
  }
  return patch
}

function structOf(type: FieldType | undefined): MergeType {
  if (type?.kind === 'struct') return type.struct
  return type?.kind === 'map' ? undefined : undefined
}

export function elementType(field: Field): MergeType {
  return field.type.kind === 'list' ? structOf(field.type.of) : undefined
}

function removeScalars(result: JsonObject, key: string, values: unknown): void {
  const list = result[key]
  if (!Array.isArray(list) || !Array.isArray(values)) return
  result[key] = list.filter(item => !values.some(value => equalJson(value, item)))
}

function applyOrders(result: JsonObject, original: JsonObject, patch: JsonObject, type: MergeType): void {
  for (const [directiveKey, order] of Object.entries(patch)) {
    if (!directiveKey.startsWith(setElementOrder) || !Array.isArray(order)) continue
    const key = directiveKey.slice(setElementOrder.length)
    const list = result[key]
    if (!Array.isArray(list)) continue
    const serverOrder = Array.isArray(original[key]) ? original[key] : []
    result[key] = orderList(list, order, serverOrder, type?.fields.get(key)?.patchMergeKey)
  }
}

function stripped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripped)
  return isJsonObject(value) ? withoutDirectives(value) : value
}

/** What a patch adds as a whole must not carry directives, nor nulls that would have removed something. */
export function withoutDirectives(patch: JsonObject): JsonObject {
  const result: JsonObject = {}
  for (const [key, value] of Object.entries(patch))
    if (!key.startsWith('$') && value !== null) result[key] = stripped(value)
  return result
}
