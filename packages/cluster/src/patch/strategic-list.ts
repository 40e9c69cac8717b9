// SPDX-License-Identifier: Apache-2.0

import { equalJson, isJsonObject, type JsonObject } from '@grove/apimachinery'
import {
  applyStrategicMerge,
  type MergeType,
  StrategicMergeError,
  withoutDirectives,
} from './strategic-merge.ts'

/** Items with the same key are merged, new ones are added, those marked for deletion go. */
export function mergeKeyedList(
  current: readonly unknown[],
  patch: readonly unknown[],
  key: string,
  type: MergeType,
): unknown[] {
  const items = patch.map(item => {
    if (!isJsonObject(item))
      throw new StrategicMergeError(
        `map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`,
      )
    return item
  })
  if (items.some(item => item.$patch === 'replace'))
    return items
      .filter(item => item.$patch !== 'replace' || Object.keys(item).length > 1)
      .map(withoutDirectives)
  let result = [...current]
  for (const item of items) {
    if (!(key in item))
      throw new StrategicMergeError(
        `map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`,
      )
    const same = (other: unknown) => isJsonObject(other) && equalJson(other[key], item[key])
    if (item.$patch === 'delete') {
      result = result.filter(other => !same(other))
      continue
    }
    const place = result.findIndex(same)
    if (place < 0) result.push(applyStrategicMerge({}, item, type))
    else result[place] = applyStrategicMerge(result[place] as JsonObject, item, type)
  }
  return orderList(result, items, current, key)
}

/** A set. */
export function mergeScalarList(current: readonly unknown[], patch: readonly unknown[]): unknown[] {
  const result = [...current]
  for (const item of patch) if (!result.some(other => equalJson(other, item))) result.push(item)
  return orderList(result, patch, current, undefined)
}

/** Brings a merged list into the order that the patch asks for; what only the server knows keeps its place. */
export function orderList(
  list: readonly unknown[],
  order: readonly unknown[],
  serverOrder: readonly unknown[],
  key: string | undefined,
): unknown[] {
  const identity = (item: unknown) =>
    JSON.stringify(key !== undefined && isJsonObject(item) ? item[key] : item)
  const wanted = order.map(identity)
  const server = serverOrder.map(identity)
  const named = list
    .filter(item => wanted.includes(identity(item)))
    .sort((a, b) => wanted.indexOf(identity(a)) - wanted.indexOf(identity(b)))
  const others = list
    .filter(item => !wanted.includes(identity(item)))
    .sort((a, b) => server.indexOf(identity(a)) - server.indexOf(identity(b)))
  const result: unknown[] = []
  let n = 0
  let o = 0
  while (n < named.length && o < others.length) {
    const namedPlace = server.indexOf(identity(named[n]))
    const otherPlace = server.indexOf(identity(others[o]))
    // Only what the server already had in this order goes first; so new items come before the others.
    const otherFirst = namedPlace >= 0 && otherPlace >= 0 && otherPlace < namedPlace
    result.push(otherFirst ? others[o++] : named[n++])
  }
  return [...result, ...named.slice(n), ...others.slice(o)]
}
