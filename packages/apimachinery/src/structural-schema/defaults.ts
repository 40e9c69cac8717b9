// SPDX-License-Identifier: Apache-2.0
import { cloneJson, isJsonObject, type JsonObject, setOwn } from '../json-value.ts'
import type { CompiledSchema } from './compile.ts'
import type { SchemaNode } from './schema-node.ts'

/**
 * Applies the defaults of the schema, as the API server does before admission: for absent properties, and for
 * null where null is not allowed. Such a null without a default is dropped. The argument is not changed, and
 * the result shares unchanged parts with it. The recursion follows the schema, so any depth of the value is
 * safe.
 */
export function applyDefaults(schema: CompiledSchema, value: unknown): unknown {
  return defaultValue(value, schema.root)
}

function defaultValue(value: unknown, node: SchemaNode): unknown {
  if (Array.isArray(value)) return node.items ? defaultList(value, node.items) : value
  return isJsonObject(value) ? defaultObject(value, node) : value
}

function defaultList(list: readonly unknown[], items: SchemaNode): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let index = 0; index < list.length; index++) {
    const item = list[index]
    // An item cannot be dropped. A null without a default stays, and validation rejects it.
    const filled = item === null && !items.nullable ? (newDefault(items) ?? null) : defaultValue(item, items)
    if (filled === item) continue
    copy ??= [...list]
    copy[index] = filled
  }
  return copy ?? list
}

function defaultObject(object: JsonObject, node: SchemaNode): JsonObject {
  const filled: JsonObject = {}
  let changed = false
  for (const key of Object.keys(object)) {
    const child = object[key]
    const childNode =
      node.properties.get(key) ?? (typeof node.additional === 'object' ? node.additional : undefined)
    const value =
      childNode === undefined
        ? child
        : child === null && !childNode.nullable
          ? newDefault(childNode)
          : defaultValue(child, childNode)
    changed ||= value !== child
    if (value !== undefined) setOwn(filled, key, value)
  }
  for (const [key, property] of node.properties) {
    if (property.default === undefined || Object.hasOwn(object, key)) continue
    changed = true
    setOwn(filled, key, newDefault(property))
  }
  return changed ? filled : object
}

/** Returns a copy of a node's default, with the defaults of its members. */
function newDefault(node: SchemaNode): unknown {
  return node.default === undefined ? undefined : defaultValue(cloneJson(node.default), node)
}
