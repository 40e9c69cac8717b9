// SPDX-License-Identifier: Apache-2.0

// Computes patches for the fields that the operator owns, and leaves the other fields of an object alone.
import { canonicalPodSpec, type PodSpec, sameCanonical } from '@grove/api'
import { createMergePatch, equalJson, getOwn, setOwn } from '@grove/apimachinery'

type Json = unknown
type JsonObject = Readonly<Record<string, Json>>

/**
 * The merge patch that turns `existing` into `wanted`; undefined when they mean the same. Absent, null, an empty list
 * and an empty map count as equal, so this is not for pod specifications, where an empty selector selects everything:
 * see `podSpecPatch`. Lists are replaced as a whole.
 */
export function mergePatch(existing: Json, wanted: Json): JsonObject | undefined {
  const patch: Record<string, Json> = {}
  const from = isObject(existing) ? existing : {}
  const to = isObject(wanted) ? wanted : {}
  // Users choose the keys of maps: `constructor` and `__proto__` are keys like any other.
  for (const key of Object.keys(to)) {
    const before = getOwn(from, key)
    const after = to[key]
    if (isEmpty(after)) {
      if (!isEmpty(before)) setOwn(patch, key, null)
    } else if (isObject(after) && isObject(before)) {
      const inner = mergePatch(before, after)
      if (inner) setOwn(patch, key, inner)
    } else if (!sameMeaning(before, after)) setOwn(patch, key, after)
  }
  for (const key of Object.keys(from))
    if (!Object.hasOwn(to, key) && !isEmpty(from[key])) setOwn(patch, key, null)
  return Object.keys(patch).length ? patch : undefined
}

/**
 * The merge patch between two pod specifications; undefined when they are of the same revision. They are compared as
 * revisions are, because a patch must follow exactly when a new revision replaces pods.
 */
export function podSpecPatch(existing: PodSpec, wanted: PodSpec): JsonObject | undefined {
  // The specs are nearly always identical, and the canonical form is costly.
  if (equalJson(existing, wanted)) return undefined
  if (sameCanonical(canonicalPodSpec(existing), canonicalPodSpec(wanted))) return undefined
  return createMergePatch(existing, wanted) as JsonObject
}

/** Like `mergePatch`, for some members of an object only. Removes a member that is not wanted. */
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
    members.filter(member => Object.hasOwn(object, member)).map(member => [member, object[member]]),
  )
}
