// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject } from '../json-value.ts'
import { patchDirective } from './directives.ts'
import { mergeErrors } from './error.ts'

/**
 * Sorts a merged list. Items in `order` have that order, and other items keep the live order. Both are
 * interleaved like in the live list. `key` is empty for lists of scalars.
 */
export function orderItems(
  merged: readonly unknown[],
  order: readonly unknown[],
  live: readonly unknown[],
  key: string,
  ofMaps: boolean,
): unknown[] {
  const { named, others } = partition(merged, order, key)
  const liveOrder = places(live, key, ofMaps)
  const first = sorted(others, live, liveOrder, key, ofMaps)
  const second = sorted(named, order, places(order, key, ofMaps), key, ofMaps)
  const result: unknown[] = []
  let o = 0
  let n = 0
  while (o < first.length && n < second.length) {
    const other = liveOrder.get(identity(first[o], key, ofMaps))
    const wanted = liveOrder.get(identity(second[n], key, ofMaps))
    const otherFirst = other !== undefined && wanted !== undefined && other < wanted
    result.push(otherFirst ? first[o++] : second[n++])
  }
  return [...result, ...second.slice(n), ...first.slice(o)]
}

function partition(merged: readonly unknown[], order: readonly unknown[], key: string) {
  const named: unknown[] = []
  const others: unknown[] = []
  if (key !== '') for (const item of merged) requireKey(item, key)
  const wanted = new Set<unknown>(key === '' ? order : order.map((item, i) => keyOf(item, key, i)))
  for (const item of merged) {
    ;(wanted.has(key === '' ? item : (item as JsonObject)[key]) ? named : others).push(item)
  }
  return { named, others }
}

function keyOf(item: unknown, key: string, place: number): unknown {
  if (!isJsonObject(item)) throw mergeErrors.keyOfNonMap(place)
  return item[key]
}

export function requireKey(item: unknown, key: string): asserts item is JsonObject {
  if (!isJsonObject(item)) throw mergeErrors.notAMap(item)
  if (!Object.hasOwn(item, key)) throw mergeErrors.noMergeKey(item, key)
}

function identity(item: unknown, key: string, ofMaps: boolean): unknown {
  if (!ofMaps) return item
  return isJsonObject(item) ? item[key] : undefined
}

function places(list: readonly unknown[], key: string, ofMaps: boolean): ReadonlyMap<unknown, number> {
  const result = new Map<unknown, number>()
  list.forEach((item, i) => {
    const id = identity(item, key, ofMaps)
    if (!result.has(id)) result.set(id, i)
  })
  return result
}

function sorted(
  items: readonly unknown[],
  order: readonly unknown[],
  placeOf: ReadonlyMap<unknown, number>,
  key: string,
  ofMaps: boolean,
): unknown[] {
  if (ofMaps) for (const item of [...items, ...order]) requireKey(item, key)
  const deleted = ofMaps ? items.filter(item => (item as JsonObject)[patchDirective] === 'delete') : []
  const kept = deleted.length > 0 ? items.filter(item => !deleted.includes(item)) : [...items]
  const place = (item: unknown) => placeOf.get(identity(item, key, ofMaps))
  if (kept.every(item => place(item) !== undefined)) kept.sort((a, b) => place(a)! - place(b)!)
  else insertUnknownFirst(kept, place)
  return [...kept, ...deleted]
}

/** An item that is not in the order moves to the front, as in the API server's sort. */
function insertUnknownFirst(items: unknown[], place: (item: unknown) => number | undefined): void {
  for (let i = 1; i < items.length; i++) {
    for (let j = i; j > 0; j--) {
      const left = place(items[j - 1])
      const right = place(items[j])
      if (left !== undefined && right !== undefined && right >= left) break
      ;[items[j - 1], items[j]] = [items[j], items[j - 1]]
    }
  }
}
