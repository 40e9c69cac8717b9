// SPDX-License-Identifier: Apache-2.0
import { equalJson, isJsonObject, setOwn } from '../json-value.ts'
import type { SchemaNode } from './schema-node.ts'

/**
 * Finds the stored value that correlates with a value of an update. Members of objects and maps correlate by
 * name, items of a list of type map by their keys. Other values do not correlate. The API server tolerates
 * invalid values that an update does not change (ratcheting), and passes the stored value to rules as
 * `oldSelf`. Both depend on this correlation.
 */
export const UNCORRELATED: unique symbol = Symbol('no stored value corresponds')

export function oldMember(old: unknown, key: string): unknown {
  return isJsonObject(old) && Object.hasOwn(old, key) ? old[key] : UNCORRELATED
}

/**
 * Finds the stored item with the same keys as an item. Building takes linear time, and each lookup constant
 * time.
 */
export function oldItems(node: SchemaNode, old: unknown): (item: unknown) => unknown {
  if (node.listType !== 'map' || node.listMapKeys.length === 0 || !Array.isArray(old))
    return () => UNCORRELATED
  let byKey: Map<string, unknown> | undefined
  return item => {
    const key = compositeKey(item, node.listMapKeys)
    if (key === undefined) return UNCORRELATED
    byKey ??= indexed(old, node.listMapKeys)
    return byKey.has(key) ? byKey.get(key) : UNCORRELATED
  }
}

function indexed(list: readonly unknown[], keys: readonly string[]): Map<string, unknown> {
  const byKey = new Map<string, unknown>()
  for (const item of list) {
    const key = compositeKey(item, keys)
    if (key !== undefined && !byKey.has(key)) byKey.set(key, item)
  }
  return byKey
}

function compositeKey(item: unknown, keys: readonly string[]): string | undefined {
  if (!isJsonObject(item)) return undefined
  const parts: unknown[] = []
  for (const key of keys) {
    const value = Object.hasOwn(item, key) ? item[key] : undefined
    if (value === undefined || value === null || typeof value === 'object') return undefined
    parts.push(value)
  }
  return JSON.stringify(parts)
}

/** Reports whether an update left a value unchanged. The order of lists of type map does not count. */
export function unchanged(node: SchemaNode | undefined, value: unknown, old: unknown): boolean {
  if (old === UNCORRELATED) return false
  if (Array.isArray(value) && Array.isArray(old)) {
    if (value.length !== old.length) return false
    if (node?.items === undefined || node.listType !== 'map') return equalJson(value, old)
    const correspondent = oldItems(node, old)
    return value.every(item => unchanged(node.items, item, correspondent(item)))
  }
  if (isJsonObject(value) && isJsonObject(old)) {
    const keys = Object.keys(value)
    return (
      keys.length === Object.keys(old).length &&
      keys.every(key => {
        const child =
          node?.properties.get(key) ?? (typeof node?.additional === 'object' ? node.additional : undefined)
        return child !== undefined && unchanged(child, value[key], oldMember(old, key))
      })
    )
  }
  return equalJson(value, old)
}

/**
 * Reorders lists of type set and map in a stored value like in the new value, as far as their items
 * correlate. CEL compares lists in order, so a rule such as `self == oldSelf` would treat a reordering as a
 * change.
 */
export function inOrderOf(node: SchemaNode, value: unknown, old: unknown): unknown {
  if (!node.holds.keyedLists) return old
  if (Array.isArray(value) && Array.isArray(old)) return listInOrderOf(node, value, old)
  if (!isJsonObject(value) || !isJsonObject(old)) return old
  const ordered = { ...old }
  for (const key of Object.keys(old)) {
    const child =
      node.properties.get(key) ?? (typeof node.additional === 'object' ? node.additional : undefined)
    if (child?.holds.keyedLists && Object.hasOwn(value, key)) {
      setOwn(ordered, key, inOrderOf(child, value[key], old[key]))
    }
  }
  return ordered
}

function listInOrderOf(node: SchemaNode, list: readonly unknown[], old: readonly unknown[]): unknown[] {
  const { items, listType } = node
  const correspondent = listType === 'set' ? sameItem(old) : oldItems(node, old)
  const rest = new Set(old)
  const ordered: unknown[] = []
  for (const item of list) {
    const stored = correspondent(item)
    if (stored === UNCORRELATED || (listType === 'map' && !rest.has(stored))) continue
    rest.delete(stored)
    ordered.push(items ? inOrderOf(items, item, stored) : stored)
  }
  return [...ordered, ...rest]
}

function sameItem(list: readonly unknown[]): (item: unknown) => unknown {
  const scalars = new Set(list)
  return item => (scalars.delete(item) ? item : UNCORRELATED)
}
