// SPDX-License-Identifier: Apache-2.0
import { isJsonObject, type JsonObject, MAX_JSON_DEPTH, setOwn } from '../json-value.ts'
import type { CompiledSchema } from './compile.ts'
import type { SchemaNode } from './schema-node.ts'

export interface PruneResult {
  readonly value: unknown
  /** The unknown fields, such as `spec.template.cliques[0].colour`, sorted. */
  readonly dropped: readonly string[]
}

/**
 * Removes fields that the schema does not specify, as the API server does during decoding. `apiVersion`,
 * `kind` and `metadata` of the root stay. The argument is not changed, and the result shares unchanged parts
 * with it. A value beyond the depth limit is returned unchanged, and `validate` rejects it.
 */
export function prune(schema: CompiledSchema, value: unknown): PruneResult {
  const dropped: string[] = []
  const pruned = pruneValue(value, { ...schema.root, embeddedResource: true }, '', 0, dropped)
  return { value: pruned, dropped: dropped.sort() }
}

function pruneValue(
  value: unknown,
  node: SchemaNode | undefined,
  path: string,
  depth: number,
  dropped: string[],
): unknown {
  if (typeof value !== 'object' || value === null || depth > MAX_JSON_DEPTH) return value
  const keepUnknown = node?.preserveUnknownFields ?? false
  if (Array.isArray(value)) {
    if (keepUnknown && node?.items === undefined) return value
    return pruneList(value, keepUnknown ? asPreserving(node!.items!) : node?.items, path, depth, dropped)
  }
  return isJsonObject(value) ? pruneObject(value, node, keepUnknown, path, depth, dropped) : value
}

/** If a list preserves unknown fields, so do its items. */
function asPreserving(node: SchemaNode): SchemaNode {
  return node.preserveUnknownFields ? node : { ...node, preserveUnknownFields: true }
}

function pruneList(
  list: readonly unknown[],
  items: SchemaNode | undefined,
  path: string,
  depth: number,
  dropped: string[],
): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let index = 0; index < list.length; index++) {
    const item = list[index]
    if (typeof item !== 'object' || item === null) continue
    const pruned = pruneValue(item, items, `${path}[${index}]`, depth + 1, dropped)
    if (pruned === item) continue
    copy ??= [...list]
    copy[index] = pruned
  }
  return copy ?? list
}

function pruneObject(
  object: JsonObject,
  node: SchemaNode | undefined,
  keepUnknown: boolean,
  path: string,
  depth: number,
  dropped: string[],
): JsonObject {
  const keys = Object.keys(object)
  const kept: JsonObject = {}
  let changed = false
  for (const key of keys) {
    const child = object[key]
    const memberPath = path === '' ? key : `${path}.${key}`
    if (node?.embeddedResource && isMetaField(key)) {
      setOwn(kept, key, child)
      continue
    }
    const property = node?.properties.get(key)
    if (property || node?.additional !== undefined) {
      const childNode = property ?? (typeof node?.additional === 'object' ? node.additional : undefined)
      const pruned = pruneValue(child, childNode, memberPath, depth + 1, dropped)
      changed ||= pruned !== child
      setOwn(kept, key, pruned)
    } else if (keepUnknown) {
      setOwn(kept, key, child)
    } else {
      changed = true
      dropped.push(memberPath)
    }
  }
  return changed ? kept : object
}

function isMetaField(key: string): boolean {
  return key === 'apiVersion' || key === 'kind' || key === 'metadata'
}
