// SPDX-License-Identifier: Apache-2.0

import type { GoType } from '../apply/struct-type.ts'
import { getOwn, isJsonObject, type JsonObject, setOwn } from '../json-value.ts'
import {
  deletionPrefix,
  directedField,
  directedMap,
  orderPrefix,
  patchDirective,
  retain,
  withoutDirectives,
  withoutNulls,
} from './directives.ts'
import { orderItems } from './element-order.ts'
import { mergeErrors } from './error.ts'
import { deleteScalars, holdMaps, liveOrderAfterMerge, mergeLists } from './merge-list.ts'
import { checkOrder } from './order-check.ts'
import { listField, objectField } from './patch-type.ts'

export function mergeObject(original: JsonObject, patch: JsonObject, type: GoType): JsonObject {
  if (Object.hasOwn(patch, patchDirective)) return directedMap(patch)
  const retained = retain(original, patch)
  const result: JsonObject = { ...retained.original }
  const done = mergeOrderedLists(result, retained.patch, type)
  for (const key of Object.keys(retained.patch))
    if (!done.has(key)) mergeMember(result, key, retained.patch[key], type)
  return result
}

function mergeMember(result: JsonObject, directedKey: string, value: unknown, type: GoType): void {
  const deletes = directedKey.startsWith(deletionPrefix)
  const key = (deletes && directedField(directedKey, deletionPrefix)) || directedKey
  if (value === null) {
    delete result[key]
    return
  }
  const present = Object.hasOwn(result, key)
  const old = result[key]
  if (deletes) {
    if (!present || !Array.isArray(old) || !Array.isArray(value)) return
    const field = listField(type, key)
    setOwn(result, key, deleteScalars(old, value, field.type, field.mergeKey))
  } else if (present && isJsonObject(old) && isJsonObject(value)) {
    const field = objectField(type, key)
    setOwn(result, key, field.strategy === 'replace' ? value : mergeObject(old, value, field.type))
  } else if (present && Array.isArray(old) && Array.isArray(value)) {
    const field = listField(type, key)
    setOwn(
      result,
      key,
      field.strategy === 'merge' ? mergeLists(old, value, field.type, field.mergeKey) : value,
    )
  } else {
    const added = withoutDirectives(withoutNulls(value))
    if (added === undefined) delete result[key]
    else setOwn(result, key, added)
  }
}

/** Merges the lists for which the patch has an order. Returns the handled members of the patch. */
function mergeOrderedLists(result: JsonObject, patch: JsonObject, type: GoType): ReadonlySet<string> {
  const done = new Set<string>()
  for (const directedKey of Object.keys(patch)) {
    if (!directedKey.startsWith(orderPrefix)) continue
    done.add(directedKey)
    const order = patch[directedKey]
    if (!Array.isArray(order)) throw mergeErrors.notAList(order)
    const key = directedField(directedKey, orderPrefix)
    const live = requireList(getOwn(result, key))
    const changes = done.has(key) ? undefined : requireList(getOwn(patch, key))
    const field = listField(type, key)
    checkOrder(changes ?? [], order, field.mergeKey)
    if (!live && !changes) continue
    const merged = mergeOrdered(live, changes, field)
    const ofMaps = holdMaps(live ?? [], changes ?? [])
    if (ofMaps && field.mergeKey === '') throw mergeErrors.noKeyDeclared('struct')
    const inPlace = live && changes && ofMaps && field.strategy === 'merge'
    const liveOrder = inPlace ? liveOrderAfterMerge(live, changes, field.mergeKey) : (live ?? [])
    setOwn(result, key, orderItems(merged, order, liveOrder, field.mergeKey, ofMaps))
    done.add(key)
  }
  return done
}

function mergeOrdered(
  live: readonly unknown[] | undefined,
  changes: readonly unknown[] | undefined,
  field: ReturnType<typeof listField>,
): readonly unknown[] {
  if (!changes) return live!
  if (!live) return withoutDirectives(changes) as unknown[]
  return field.strategy === 'merge' ? mergeLists(live, changes, field.type, field.mergeKey) : changes
}

function requireList(value: unknown): readonly unknown[] | undefined {
  if (value === undefined || Array.isArray(value)) return value
  throw mergeErrors.notAList(value)
}
