// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject, setOwn } from '../json-value.ts'
import type { FieldSet, FieldSetDraft } from './field-set.ts'
import { parsePathElement, sortElements } from './path-element.ts'

/**
 * Both forms of what was read or written before. Most owners are not touched by a write, so that theirs need not be
 * worked out again. Neither form may be changed by anyone.
 */
const encodedSets = new WeakMap<FieldSet, JsonObject>()
const decodedSets = new WeakMap<JsonObject, FieldSet>()

/**
 * The form in managedFields: an empty object is a member; `.` marks a member that has members below it. The result is
 * shared: it must not be changed.
 */
export function encodeFieldsV1(set: FieldSet): JsonObject {
  const encoded = encodePart(set, 0)
  decodedSets.set(encoded, set)
  return encoded
}

/** Down to this depth parts are remembered too: a change of the labels leaves the spec as it was. */
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

/** Throws a SyntaxError on what no API server writes. Elements of unknown kinds are dropped. */
export function decodeFieldsV1(encoded: unknown): FieldSet {
  const known = isJsonObject(encoded) ? decodedSets.get(encoded) : undefined
  if (known) return known
  const set = decode(encoded).below
  // What was read may be written differently than we would, so only this direction is kept.
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

/** As `encodeFieldsV1`, in the order in which objects of custom kinds are written: that of the texts. */
export function sortFieldsV1(encoded: JsonObject): JsonObject {
  const sorted: JsonObject = {}
  for (const key of Object.keys(encoded).sort()) {
    const value = encoded[key]
    setOwn(sorted, key, isJsonObject(value) ? sortFieldsV1(value) : value)
  }
  return sorted
}
