// SPDX-License-Identifier: Apache-2.0
import { cloneJson, equalJson, isJsonObject, type JsonObject, MAX_JSON_DEPTH, setOwn } from './json-value.ts'

/**
 * Applies a JSON merge patch (RFC 7386): members of the patch replace members of the value, null removes, and
 * lists are replaced as a whole. The arguments are not changed. The result shares unchanged parts with the
 * value.
 */
export function applyMergePatch(value: unknown, patch: unknown): unknown {
  return merge(value, patch, 0)
}

function merge(value: unknown, patch: unknown, depth: number): unknown {
  if (!isJsonObject(patch) || depth > MAX_JSON_DEPTH) return cloneJson(patch)
  const merged: JsonObject = isJsonObject(value) ? { ...value } : {}
  for (const key of Object.keys(patch)) {
    const change = patch[key]
    if (change === null || change === undefined) delete merged[key]
    else setOwn(merged, key, merge(Object.hasOwn(merged, key) ? merged[key] : undefined, change, depth + 1))
  }
  return merged
}

/**
 * Returns the smallest merge patch that turns one value into the other; undefined if they are equal. A merge
 * patch cannot set a member to null: if `after` has null, the patch removes the member.
 */
export function createMergePatch(before: unknown, after: unknown): unknown {
  return difference(before, after, 0)
}

function difference(before: unknown, after: unknown, depth: number): unknown {
  if (equalJson(before, after)) return undefined
  if (!isJsonObject(before) || !isJsonObject(after) || depth > MAX_JSON_DEPTH) return cloneJson(after)
  const patch: JsonObject = {}
  for (const key of Object.keys(before)) {
    if (before[key] !== undefined && (!Object.hasOwn(after, key) || after[key] === undefined)) {
      setOwn(patch, key, null)
    }
  }
  for (const key of Object.keys(after)) {
    if (after[key] === undefined) continue
    const change = difference(Object.hasOwn(before, key) ? before[key] : undefined, after[key], depth + 1)
    if (change !== undefined) setOwn(patch, key, change)
  }
  return patch
}
