// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject, setOwn } from '../json-value.ts'
import type { FieldSet, FieldSetDraft } from './field-set.ts'
import { parsePathElement, sortElements } from './path-element.ts'

/**
 * Caches both directions, because most managedFields entries do not change in a write. The cached values must
 * not be mutated.
 */
const encodedSets = new WeakMap<FieldSet, JsonObject>()
const decodedSets = new WeakMap<JsonObject, FieldSet>()

/**
 * Encodes a set for managedFields. An empty object is a member, and `.` marks a member that has members below
 * it. The result is shared and must not be mutated.
 */
export function encodeFieldsV1(set: FieldSet): JsonObject {
  const encoded = encodePart(set, 0)
  decodedSets.set(encoded, set)
  return encoded
}

/** Subtrees down to this depth are cached too, so that a change of labels does not encode the spec again. */
const rememberedDepth = 2

const member: JsonObject = Object.freeze({})

function encode(set: FieldSet, depth: number): JsonObject {
  const encoded: JsonObject = {}
  for (const element of sortElements(set.keys())) {
    const entry = set.get(element)!
    if (!entry.below) encoded[element] = member
    else {
      const below =
        depth < rememberedDepth ? encodePart(entry.below, depth + 1) : encode(entry.below, depth + 1)
      encoded[element] = entry.member ? { '.': member, ...below } : below
    }
  }
  return encoded
}

function encodePart(set: FieldSet, depth: number): JsonObject {
  let encoded = encodedSets.get(set)
  if (!encoded) {
    encoded = encode(set, depth)
    encodedSets.set(set, encoded)
  }
  return encoded
}

/** Throws a SyntaxError on malformed input. Drops elements of unknown types. */
export function decodeFieldsV1(encoded: unknown): FieldSet {
  const known = isJsonObject(encoded) ? decodedSets.get(encoded) : undefined
  if (known) return known
  const set = decode(encoded).below
  // Caches only the decoding: the input may differ from the encoding that this code would produce.
  if (isJsonObject(encoded)) decodedSets.set(encoded, set)
  return set
}

function decode(encoded: unknown): { readonly member: boolean; readonly below: FieldSet } {
  const below: FieldSetDraft = new Map()
  if (encoded === null || encoded === undefined) return { member: true, below }
  if (!isJsonObject(encoded))
    throw new SyntaxError(`expected an object of fields, got ${JSON.stringify(encoded)}`)
  let member = false
  for (const key of Object.keys(encoded)) {
    if (key === '.') {
      member = true
      continue
    }
    const element = parsePathElement(key)
    if (element === undefined) continue
    const inner = decode(encoded[key])
    if (inner.below.size > 0) below.set(element, inner)
    else if (inner.member) below.set(element, { member: true, below: undefined })
  }
  return { member: member || below.size === 0, below }
}

/** Like `encodeFieldsV1`, but with sorted keys, as custom objects are encoded. */
export function sortFieldsV1(encoded: JsonObject): JsonObject {
  const sorted: JsonObject = {}
  for (const key of Object.keys(encoded).sort()) {
    const value = encoded[key]
    setOwn(sorted, key, isJsonObject(value) ? sortFieldsV1(value) : value)
  }
  return sorted
}
