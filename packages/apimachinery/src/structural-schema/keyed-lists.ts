// SPDX-License-Identifier: Apache-2.0
import { type FieldError, fieldError } from '../field-error.ts'
import { bracketedPath, childPath, type FieldPath, mapKeyPath } from '../field-path.ts'
import { getOwn, isJsonObject, type JsonObject, setOwn, sortKeys } from '../json-value.ts'
import type { SchemaNode } from './schema-node.ts'

/**
 * Validates that items of lists of type map have unique keys and items of sets are unique. Only the second of
 * several equal items is reported, as in the API server.
 */
export function validateKeyedLists(
  node: SchemaNode,
  value: unknown,
  path: FieldPath | undefined,
  errors: FieldError[],
): void {
  if (!node.holds.keyedLists) return
  if (Array.isArray(value)) {
    if (node.listType === 'set') reportRepeated(value, path, errors)
    if (node.listType === 'map') validateListMap(node, value, path, errors)
    if (node.items?.holds.keyedLists) {
      for (const [index, item] of value.entries()) {
        validateKeyedLists(node.items, item, childPath(path, index), errors)
      }
    }
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      const property = node.properties.get(key)
      if (property) validateKeyedLists(property, value[key], childPath(path, key), errors)
      if (typeof node.additional === 'object') {
        validateKeyedLists(node.additional, value[key], mapKeyPath(path, key), errors)
      }
    }
  }
}

function validateListMap(
  node: SchemaNode,
  list: readonly unknown[],
  path: FieldPath | undefined,
  errors: FieldError[],
): void {
  const stranger = list.findIndex(item => item !== null && !isJsonObject(item))
  if (stranger >= 0) {
    errors.push(
      fieldError.invalid(
        bracketedPath(childPath(path, stranger)),
        list[stranger],
        'must be an object for an array of list-type map',
      ),
    )
    return
  }
  const keys = list.map(item => keyOf(item as JsonObject | null, node.listMapKeys))
  reportRepeated(keys, path, errors)
}

/** Returns the key members that an item has. */
function keyOf(item: JsonObject | null, names: readonly string[]): JsonObject {
  const key: JsonObject = {}
  for (const name of names) {
    const value = item === null ? undefined : getOwn(item, name)
    if (value !== undefined) setOwn(key, name, value)
  }
  return key
}

function reportRepeated(items: readonly unknown[], path: FieldPath | undefined, errors: FieldError[]): void {
  if (items.length < 2) return
  const seen = new Map<string, number>()
  for (const [index, item] of items.entries()) {
    const text = JSON.stringify(sortKeys(item)) ?? 'null'
    const times = seen.get(text) ?? 0
    seen.set(text, times + 1)
    if (times === 1) {
      errors.push(fieldError.duplicate(bracketedPath(childPath(path, index)), sortKeys(item)))
    }
  }
}
