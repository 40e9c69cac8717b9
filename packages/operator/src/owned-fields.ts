// SPDX-License-Identifier: Apache-2.0

// Brings the fields that are ours to what they should be, and leaves the rest of an object alone.

type Json = unknown
type JsonObject = Readonly<Record<string, Json>>

/**
 * The merge patch that turns `existing` into `wanted`; undefined when they mean the same. Absent, null, an empty list
 * and an empty map are equal, as they are for the API server. Lists are replaced as a whole.
 */
export function mergePatch(existing: Json, wanted: Json): JsonObject | undefined {
  const patch: Record<string, Json> = {}
  const from = isObject(existing) ? existing : {}
  const to = isObject(wanted) ? wanted : {}
  for (const key of Object.keys(to)) {
    if (isEmpty(to[key])) {
      if (!isEmpty(from[key])) patch[key] = null
    } else if (isObject(to[key]) && isObject(from[key])) {
      const inner = mergePatch(from[key], to[key])
      if (inner) patch[key] = inner
    } else if (!sameMeaning(from[key], to[key])) patch[key] = to[key]
  }
  for (const key of Object.keys(from)) if (!(key in to) && !isEmpty(from[key])) patch[key] = null
  return Object.keys(patch).length ? patch : undefined
}

/** The same for some members of an object only; a member that is not wanted is taken away. */
export function patchMembers(
  existing: Json,
  wanted: Json,
  members: readonly string[],
): JsonObject | undefined {
  return mergePatch(only(existing, members), only(wanted, members))
}

export function sameMeaning(a: Json, b: Json): boolean {
  if (isEmpty(a) && isEmpty(b)) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((x, at) => sameMeaning(x, b[at]))
  if (isObject(a) && isObject(b)) return mergePatch(a, b) === undefined
  return a === b
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isEmpty(value: Json): boolean {
  if (value === undefined || value === null) return true
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && Object.keys(value).length === 0
}

function only(object: Json, members: readonly string[]): JsonObject {
  if (!isObject(object)) return {}
  return Object.fromEntries(
    members.filter(member => member in object).map(member => [member, object[member]]),
  )
}
