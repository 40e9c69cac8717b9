// SPDX-License-Identifier: Apache-2.0

import { compareBytes } from './byte-order.ts'
import { canonicalJson } from './canonical-json.ts'
import { objectOf } from './input.ts'

/** Sorts the list `name` of `object` by its keys. Does nothing if it is not a list. */
export function sortMember(object: Record<string, unknown>, name: string, keys: readonly string[]): void {
  const list = object[name]
  if (Array.isArray(list)) object[name] = sortUnordered(list, keys)
}

/** A sorted copy. Elements with equal keys are ordered by their whole content. */
function sortUnordered(list: readonly unknown[], keys: readonly string[]): unknown[] {
  return [...list].sort((left, right) => {
    for (const key of keys) {
      const order = compareScalars(objectOf(left)[key], objectOf(right)[key])
      if (order !== 0) return order
    }
    return compareBytes(canonicalJson(left), canonicalJson(right))
  })
}

/** Absent values first, then numbers, then strings, then other types. */
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
