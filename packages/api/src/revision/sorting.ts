// SPDX-License-Identifier: Apache-2.0

import { compareBytes } from './byte-order.ts'
import { canonicalJson } from './canonical-json.ts'
import { objectOf } from './input.ts'

/** Puts a list that is a member of `object` into the order of its keys; does nothing if it is no list. */
export function sortMember(object: Record<string, unknown>, name: string, keys: readonly string[]): void {
  const list = object[name]
  if (Array.isArray(list)) object[name] = sortUnordered(list, keys)
}

/** A sorted copy; what is equal in the keys is put in order by its whole content. */
function sortUnordered(list: readonly unknown[], keys: readonly string[]): unknown[] {
  return [...list].sort((left, right) => {
    for (const key of keys) {
      const order = compareScalars(objectOf(left)[key], objectOf(right)[key])
      if (order !== 0) return order
    }
    return compareBytes(canonicalJson(left), canonicalJson(right))
  })
}

/** Absent values first, then numbers, then texts, then whatever should not be a key. */
function compareScalars(left: unknown, right: unknown): number {
  if (left === right) return 0
  const order = rank(left) - rank(right)
  if (order !== 0) return order
  if (typeof left === 'number') return left - (right as number)
  if (typeof left === 'string') return compareBytes(left, right as string)
  return compareBytes(canonicalJson(left), canonicalJson(right))
}

function rank(value: unknown): number {
  return value === undefined ? 0 : typeof value === 'number' ? 1 : typeof value === 'string' ? 2 : 3
}
