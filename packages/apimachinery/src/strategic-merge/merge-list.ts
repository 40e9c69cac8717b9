// SPDX-License-Identifier: Apache-2.0

import type { GoType } from '../apply/struct-type.ts'
import { isJsonObject, type JsonObject } from '../json-value.ts'
import { patchDirective } from './directives.ts'
import { orderItems, requireKey } from './element-order.ts'
import { mergeErrors } from './error.ts'
import { mergeObject } from './merge-object.ts'
import { goKind } from './patch-type.ts'

/** Merges two lists with the strategy merge: items with the same key are merged, and scalars form a set. */
export function mergeLists(
  original: readonly unknown[],
  patch: readonly unknown[],
  type: GoType,
  key: string,
): readonly unknown[] {
  if (original.length === 0 && patch.length === 0) return original
  const ofMaps = holdMaps(original, patch)
  if (!ofMaps) return orderItems([...new Set([...original, ...patch])], patch, original, key, false)
  if (key === '') throw mergeErrors.noKeyDeclared(goKind(type))
  const { live, changes } = applyItemDirectives(original as JsonObject[], patch as JsonObject[], key)
  return orderItems(mergeItems(live, changes, type, key), changes, live, key, true)
}

/** Applies `$deleteFromPrimitiveList`, independent of the strategy of the field. */
export function deleteScalars(
  original: readonly unknown[],
  deletions: readonly unknown[],
  type: GoType,
  key: string,
): readonly unknown[] {
  if (original.length === 0 && deletions.length === 0) return original
  if (holdMaps(original, deletions)) return mergeLists(original, deletions, type, key)
  const gone = new Set(deletions)
  return original.filter(item => !gone.has(item))
}

/**
 * Reports whether the items of the lists are objects. All items must have the same type, which must not be a
 * list.
 */
export function holdMaps(...lists: readonly (readonly unknown[])[]): boolean {
  let type: string | undefined
  for (const list of lists)
    for (const item of list) {
      const current = jsonType(item)
      if (type === undefined && current === 'list') throw mergeErrors.listsOfLists()
      type ??= current
      if (type !== current) throw mergeErrors.mixedTypes(...lists)
    }
  if (type === undefined) throw mergeErrors.noElements()
  return type === 'map'
}

function jsonType(item: unknown): string {
  if (isJsonObject(item)) return 'map'
  if (Array.isArray(item)) return 'list'
  return typeof item === 'number' && !Number.isInteger(item) ? 'float' : typeof item
}

/** Applies items with `$patch`: deletes items with the same key, or replaces the whole list. */
function applyItemDirectives(
  original: readonly JsonObject[],
  patch: readonly JsonObject[],
  key: string,
): { live: readonly JsonObject[]; changes: readonly JsonObject[] } {
  let live = original
  let replaces = false
  const changes: JsonObject[] = []
  for (const item of patch) {
    if (!Object.hasOwn(item, patchDirective)) {
      changes.push(item)
      continue
    }
    switch (item[patchDirective]) {
      case 'delete':
        if (!Object.hasOwn(item, key)) throw mergeErrors.noMergeKey(item, key)
        live = live.filter(other => other[key] !== item[key])
        break
      case 'replace':
        replaces = true
        break
      case 'merge':
        throw mergeErrors.mergeDirectiveInList()
      default:
        throw mergeErrors.unknownDirective(item[patchDirective], item)
    }
  }
  return replaces ? { live: changes, changes: [] } : { live, changes }
}

function mergeItems(
  original: readonly JsonObject[],
  patch: readonly JsonObject[],
  type: GoType,
  key: string,
): JsonObject[] {
  const merged = [...original]
  const places = new Map<unknown, number>()
  merged.forEach((item, i) => {
    if (Object.hasOwn(item, key) && !places.has(item[key])) places.set(item[key], i)
  })
  for (const item of patch) {
    requireKey(item, key)
    const place = places.get(item[key])
    if (place !== undefined) merged[place] = mergeObject(merged[place]!, item, type)
    else {
      places.set(item[key], merged.length)
      merged.push(item)
    }
  }
  return merged
}

/**
 * The live order that `$setElementOrder` uses. The API server merges in place and then reads the list at its
 * old length. Deletions have moved items up, and new items fill the gap.
 */
export function liveOrderAfterMerge(
  live: readonly unknown[],
  patch: readonly unknown[],
  key: string,
): unknown[] {
  const seen = [...live] as JsonObject[]
  const keys = seen.map(item => item[key])
  let replaces = false
  for (const item of patch as readonly JsonObject[]) {
    replaces ||= item[patchDirective] === 'replace'
    if (item[patchDirective] !== 'delete') continue
    for (let i = keys.indexOf(item[key]); i >= 0; i = keys.indexOf(item[key])) {
      seen.copyWithin(i, i + 1, keys.length)
      keys.splice(i, 1)
    }
  }
  if (replaces) return seen
  for (const item of patch as readonly JsonObject[]) {
    if (Object.hasOwn(item, patchDirective) || keys.includes(item[key])) continue
    if (keys.length < seen.length) seen[keys.length] = item
    keys.push(item[key])
  }
  return seen
}
