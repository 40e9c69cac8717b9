// SPDX-License-Identifier: Apache-2.0

import type { GoStruct, GoType } from '../../apply/index.ts'
import type { Chance } from '../../apply/testing/random-configuration.ts'
import { isJsonObject, type JsonObject } from '../../json-value.ts'

/** Adds directives to a patch, mostly where they are valid, and sometimes where they are not. */
export function withRandomDirectives(
  chance: Chance,
  patch: JsonObject,
  live: JsonObject,
  struct: GoStruct,
): JsonObject {
  // As sent: a missing key is absent, not undefined.
  return JSON.parse(JSON.stringify(object(chance, patch, live, { kind: 'struct', struct })))
}

function object(chance: Chance, patch: JsonObject, live: unknown, type: GoType): JsonObject {
  const result: JsonObject = {}
  const old = isJsonObject(live) ? live : {}
  for (const [key, value] of Object.entries(patch)) {
    if (chance.flip(0.08)) continue
    if (chance.flip(0.04)) result[key] = null
    else result[key] = member(chance, key, value, old[key], type, result)
  }
  if (type.kind === 'struct') {
    if (chance.flip(0.04))
      result.$retainKeys = chance.some([...new Set([...Object.keys(result), ...Object.keys(old)])])
    if (chance.flip(0.02)) result.$patch = chance.pick(['replace', 'delete', 'merge'])
  } else if (chance.flip(0.1)) result.$patch = 'replace'
  return result
}

function member(
  chance: Chance,
  key: string,
  value: unknown,
  live: unknown,
  type: GoType,
  into: JsonObject,
): unknown {
  const field = type.kind === 'struct' ? type.struct.fields.get(key) : undefined
  if (!field) return value
  if (isJsonObject(value)) return object(chance, value, live, field.type)
  if (!Array.isArray(value)) return value
  const of = field.type.kind === 'list' ? field.type.of : field.type
  const old = Array.isArray(live) ? live : []
  if (!field.patchStrategies.includes('merge')) return value
  const mergeKey = field.patchMergeKey
  if (!mergeKey) {
    if (chance.flip(0.2))
      into[`$deleteFromPrimitiveList/${key}`] = chance.some(old.filter(item => !value.includes(item)))
    if (chance.flip(0.3)) into[`$setElementOrder/${key}`] = chance.some([...new Set([...value, ...old])])
    return value
  }
  const items: unknown[] = value.map(item =>
    object(
      chance,
      item as JsonObject,
      old.find(other => other[mergeKey] === (item as JsonObject)[mergeKey]),
      of,
    ),
  )
  if (chance.flip(0.25) && old.length > 0)
    items.push({ [mergeKey]: chance.pick(old)[mergeKey], $patch: 'delete' })
  if (chance.flip(0.08)) items.push({ $patch: 'replace' })
  if (chance.flip(0.3)) {
    const keys = [
      ...new Set([...value, ...(chance.flip(0.7) ? old : [])].map(item => (item as JsonObject)[mergeKey])),
    ]
    into[`$setElementOrder/${key}`] = keys.map(name => ({ [mergeKey]: name }))
  }
  return items
}
