// SPDX-License-Identifier: Apache-2.0
import { isJsonObject, MAX_JSON_DEPTH } from './json-value.ts'

/** The path of a comparison: member names and list positions, from the root. */
export type ComparisonPath = readonly (string | number)[]

/**
 * Compares two values, for example quantities with different notations. Returns undefined to use the general
 * rule.
 */
export type Comparator = (left: unknown, right: unknown, path: ComparisonPath) => boolean | undefined

/**
 * Reports whether two JSON values are semantically equal in Kubernetes. An absent member, null, an empty list
 * and an empty object are equal. The order of members does not matter, the order of lists does.
 *
 * An empty object such as `emptyDir: {}` is equal to an absent one. If the difference matters, `compare` must
 * handle it; it receives undefined for an absent member. Values beyond the depth limit are not equal.
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
  // An absent value has no members. The other value is compared member by member, so that `compare` receives
  // all of them.
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
