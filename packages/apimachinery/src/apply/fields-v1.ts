// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject, setOwn } from '../json-value.ts'
import type { FieldSet, FieldSetDraft } from './field-set.ts'
import { parsePathElement, sortElements } from './path-element.ts'

/** The form in managedFields: an empty object is a member; `.` marks a member that has members below it. */
export function encodeFieldsV1(set: FieldSet): JsonObject {
  const encoded: JsonObject = {}
  for (const element of sortElements(set.keys())) {
    const { member, below } = set.get(element)!
    if (!below) encoded[element] = {}
    else encoded[element] = member ? { '.': {}, ...encodeFieldsV1(below) } : encodeFieldsV1(below)
  }
  return encoded
}

/** Throws a SyntaxError on what no API server writes. Elements of unknown kinds are dropped. */
export function decodeFieldsV1(encoded: unknown): FieldSet {
  return decode(encoded).below
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
