// SPDX-License-Identifier: Apache-2.0

import { isJsonObject } from '../json-value.ts'
import { patchDirective } from './directives.ts'
import { requireKey } from './element-order.ts'
import { mergeErrors } from './error.ts'

/**
 * The items of a patch must appear in its `$setElementOrder` list, in the same order. Deletions do not count.
 */
export function checkOrder(patch: readonly unknown[], order: readonly unknown[], key: string): void {
  if (patch.length === 0 || order.length === 0) return
  const items = key === '' ? patch : patch.filter(item => !isDeletion(item))
  let i = 0
  for (const wanted of order) {
    while (i < items.length && carriesDirective(items[i])) i++
    if (i >= items.length) return
    if (sameItem(items[i], wanted, key)) i++
  }
  if (i < items.length) throw mergeErrors.orderMismatch(patch, order)
}

function isDeletion(item: unknown): boolean {
  if (!isJsonObject(item)) throw mergeErrors.notAMap(item)
  return item[patchDirective] === 'delete'
}

function carriesDirective(item: unknown): boolean {
  return isJsonObject(item) && Object.hasOwn(item, patchDirective)
}

function sameItem(item: unknown, wanted: unknown, key: string): boolean {
  if (key === '') return item === wanted
  if (!isJsonObject(item)) throw mergeErrors.notAMap(item)
  if (!isJsonObject(wanted)) throw mergeErrors.notAMap(wanted)
  requireKey(item, key)
  requireKey(wanted, key)
  return item[key] === wanted[key]
}
