// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject, setOwn } from '../json-value.ts'
import { mergeErrors } from './error.ts'

export const patchDirective = '$patch'
export const deletionPrefix = '$deleteFromPrimitiveList'
export const orderPrefix = '$setElementOrder'
const retainKeys = '$retainKeys'

/** `$setElementOrder/ports` → `ports` */
export function directedField(key: string, prefix: string): string {
  const slash = key.indexOf('/')
  if (slash !== prefix.length)
    throw prefix === orderPrefix ? mergeErrors.elementOrder() : mergeErrors.primitiveList()
  return key.slice(slash + 1)
}

/** Applies `$patch` to a map. */
export function directedMap(patch: JsonObject): JsonObject {
  const { [patchDirective]: directive, ...rest } = patch
  if (directive === 'replace') return rest
  if (directive === 'delete') return {}
  throw mergeErrors.unknownDirective(directive, patch)
}

/** Applies `$retainKeys`: keeps only the listed keys of the original. The patch must not have other keys. */
export function retain(original: JsonObject, patch: JsonObject): { original: JsonObject; patch: JsonObject } {
  if (!Object.hasOwn(patch, retainKeys)) return { original, patch }
  const { [retainKeys]: listed, ...rest } = patch
  if (!Array.isArray(listed)) throw mergeErrors.retainKeys()
  const kept = new Set<unknown>(listed)
  for (const [key, value] of Object.entries(rest)) {
    if (value === null || key.startsWith(deletionPrefix) || key.startsWith(orderPrefix)) continue
    if (!kept.has(key)) throw mergeErrors.retainKeys()
  }
  const retained: JsonObject = {}
  for (const key of Object.keys(original)) if (kept.has(key)) setOwn(retained, key, original[key])
  return { original: retained, patch: rest }
}

/** Removes values with `$patch` from a new value. Returns undefined if nothing remains. */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter(item => item !== undefined)
  if (!isJsonObject(value)) return value
  if (Object.hasOwn(value, patchDirective)) return undefined
  const result: JsonObject = {}
  for (const key of Object.keys(value)) {
    const inner = withoutDirectives(value[key])
    if (inner !== undefined) setOwn(result, key, inner)
  }
  return result
}

/** Removes null members on every level: they would delete members that do not exist. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isJsonObject(value)) return value
  const result: JsonObject = {}
  for (const key of Object.keys(value)) if (value[key] !== null) setOwn(result, key, withoutNulls(value[key]))
  return result
}
