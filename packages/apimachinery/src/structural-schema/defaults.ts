// SPDX-License-Identifier: Apache-2.0
import { cloneJson, isJsonObject, type JsonObject, setOwn } from '../json-value.ts'
import type { CompiledSchema } from './compile.ts'
import type { SchemaNode } from './schema-node.ts'

/**
 * Fills in the defaults of the schema, as the API server does before admission: for absent properties, and for a null
 * where null is not allowed; such a null without a default is dropped. The argument is left alone; the result shares
 * with it what did not change. The recursion ends with the schema, so that any depth of the value is safe.
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
    // Unlike a member, an item cannot be dropped: a null without a default stays, and validation refuses it.
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

/** A fresh copy of a node's default, itself defaulted: what is inside it may have defaults of its own. */
function newDefault(node: SchemaNode): unknown {
  return node.default === undefined ? undefined : defaultValue(cloneJson(node.default), node)
}
