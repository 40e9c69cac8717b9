// SPDX-License-Identifier: Apache-2.0
import { isJsonObject, MAX_JSON_DEPTH } from './json-value.ts'

/** Where a comparison stands: names of members and positions in lists, from the root. */
export type ComparisonPath = readonly (string | number)[]

/**
 * Decides about two present values, such as quantities that are equal in amount though not in text. Undefined leaves
 * the decision to the general rule.
 */
export type Comparator = (left: unknown, right: unknown, path: ComparisonPath) => boolean | undefined

/**
 * Whether two JSON values mean the same to Kubernetes: an absent member, null, an empty list and an object without
 * anything in it are all nothing. The order of members does not matter, that of lists does.
 *
 * An empty object that carries meaning by its presence, such as `emptyDir: {}`, is nothing here too: where that
 * matters, say so in `compare` (which sees undefined for an absent member). What is nested too deeply to be compared
 * is not equal.
 */
export function semanticallyEqual(left: unknown, right: unknown, compare?: Comparator): boolean {
  return equal(left, right, compare, [], 0)
}

function equal(
  left: unknown,
  right: unknown,
  compare: Comparator | undefined,
  path: (string | number)[],
  depth: number,
): boolean {
  const decided = compare?.(left, right, path)
  if (decided !== undefined) return decided
  if (left === right) return true
  if (depth > MAX_JSON_DEPTH) return false
  if (Array.isArray(left) && Array.isArray(right)) {
    if (left.length !== right.length) return false
    return left.every((item, index) => equalAt(index, item, right[index], compare, path, depth))
  }
  // Nothing has no members: an object is compared with it member by member, so that `compare` sees them all.
  const leftMembers = isNothing(left) ? {} : left
  const rightMembers = isNothing(right) ? {} : right
  if (!isJsonObject(leftMembers) || !isJsonObject(rightMembers)) return false
  for (const key of Object.keys(leftMembers)) {
    if (!equalAt(key, leftMembers[key], member(rightMembers, key), compare, path, depth)) return false
  }
  return Object.keys(rightMembers).every(
    key =>
      Object.hasOwn(leftMembers, key) || equalAt(key, undefined, rightMembers[key], compare, path, depth),
  )
}

function equalAt(
  segment: string | number,
  left: unknown,
  right: unknown,
  compare: Comparator | undefined,
  path: (string | number)[],
  depth: number,
): boolean {
  path.push(segment)
  const result = equal(left, right, compare, path, depth + 1)
  path.pop()
  return result
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

function member(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}
