// SPDX-License-Identifier: Apache-2.0
import { Duration } from '@marcbachmann/cel-js/evaluator'
import { parseDuration } from '../duration.ts'
import { isJsonObject, type JsonObject, setOwn } from '../json-value.ts'
import type { SchemaNode } from '../structural-schema/schema-node.ts'
import { celName } from './escape.ts'

/**
 * Converts a JSON value for the CEL library: integers become BigInt, timestamps become Date, and properties
 * get their CEL names. Objects and lists are converted on access. A rule about one field of a large object
 * costs only that field.
 */
export function toCel(value: unknown, node: SchemaNode, isResource = false): unknown {
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return listToCel(value, node.items)
  if (isJsonObject(value)) return objectToCel(value, node, isResource || node.embeddedResource)
  return scalarToCel(value, node)
}

function listToCel(list: readonly unknown[], items: SchemaNode | undefined): readonly unknown[] {
  return items ? list.map(item => toCel(item, items)) : []
}

function objectToCel(object: JsonObject, node: SchemaNode, isResource: boolean): JsonObject {
  const converted: JsonObject = {}
  for (const key of Object.keys(object)) {
    const value = object[key]
    if (value === undefined) continue
    const property = node.properties.get(key)
    if (isResource && resourceMembers.has(key)) {
      setOwn(converted, key, key === 'metadata' ? visibleMetadata(value) : value)
    } else if (property) {
      const name = celName(key)
      if (name !== undefined) defineMember(converted, name, value, property)
    } else if (typeof node.additional === 'object') {
      defineMember(converted, key, value, node.additional)
    }
  }
  return converted
}

const resourceMembers: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

/** Rules can only access the name in the metadata. */
function visibleMetadata(metadata: unknown): JsonObject {
  const visible: JsonObject = {}
  if (!isJsonObject(metadata)) return visible
  for (const key of ['name', 'generateName']) {
    if (typeof metadata[key] === 'string') visible[key] = metadata[key]
  }
  return visible
}

function defineMember(target: JsonObject, name: string, value: unknown, node: SchemaNode): void {
  if (typeof value !== 'object' || value === null) {
    setOwn(target, name, toCel(value, node))
    return
  }
  let converted: unknown
  Object.defineProperty(target, name, {
    enumerable: true,
    get: () => (converted ??= toCel(value, node)),
  })
}

function scalarToCel(value: unknown, node: SchemaNode): unknown {
  if (typeof value === 'number') {
    return node.types.includes('integer') && Number.isInteger(value) ? BigInt(value) : value
  }
  if (typeof value !== 'string') return value
  switch (node.format) {
    case 'date':
    case 'date-time': {
      const time = new Date(value)
      return Number.isNaN(time.getTime()) ? value : time
    }
    case 'duration': {
      const duration = parseDuration(value)
      if (!duration.ok) return value
      return new Duration(
        duration.nanoseconds / 1_000_000_000n,
        Number(duration.nanoseconds % 1_000_000_000n),
      )
    }
    case 'byte':
      return Buffer.from(value, 'base64')
    default:
      return value
  }
}
