// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject, setOwn } from '../json-value.ts'
import { type FieldType, type MapType, memberType, shapeOf } from './field-type.ts'
import { mergeList } from './merge-list.ts'

/**
 * Merges the applied value into the live value without removing anything. Unchanged parts are shared with the
 * inputs. An unchanged value is the live value itself.
 */
export function merge(live: unknown, applied: unknown, type: FieldType): unknown {
  if (applied === undefined) return live
  if (live === undefined || live === applied) return applied
  switch (shapeOf(type, applied)) {
    case 'map':
      return mergeMap(live, applied, type.map!)
    case 'list': {
      const before = Array.isArray(live) && live.length > 0 ? live : undefined
      const after = Array.isArray(applied) && applied.length > 0 ? applied : undefined
      if (type.list!.relation === 'atomic' || (!before && !after)) return applied
      return mergeList(before ?? [], after ?? [], type.list!)
    }
    case 'scalar':
      return applied
  }
}

function mergeMap(live: unknown, applied: unknown, type: MapType): unknown {
  const before = isJsonObject(live) && Object.keys(live).length > 0 ? live : undefined
  const after = isJsonObject(applied) && Object.keys(applied).length > 0 ? applied : undefined
  if (type.atomic || (!before && !after)) return applied
  // Null or {} for an object with members does not change the members.
  if (!after) return before
  if (!before) return after
  let result: JsonObject | undefined
  for (const key of Object.keys(after)) {
    const old = Object.hasOwn(before, key) ? before[key] : undefined
    const merged = merge(old, after[key], memberType(type, key))
    if (merged === old) continue
    result ??= { ...before }
    setOwn(result, key, merged)
  }
  return result ?? before
}
