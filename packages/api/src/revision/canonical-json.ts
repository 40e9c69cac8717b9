// SPDX-License-Identifier: Apache-2.0

import { compareBytes } from './byte-order.ts'

/** Canonical forms are never this deep, but other values that are compared here may be hostile. */
const deepest = 500

/** JSON without white space and with all keys in bytewise order: equal values produce equal text. */
export function canonicalJson(value: unknown, depth = 0): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object' || value === null)
    return typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'null')
  if (depth > deepest) return '"(nested too deep)"'
  let text = ''
  if (Array.isArray(value)) {
    for (const item of value) text += (text === '' ? '' : ',') + canonicalJson(item, depth + 1)
    return `[${text}]`
  }
  const object = value as Readonly<Record<string, unknown>>
  for (const key of sortedKeys(object)) {
    const member = object[key]
    if (member !== undefined)
      text += (text === '' ? '' : ',') + quoteKey(key) + canonicalJson(member, depth + 1)
  }
  return `{${text}}`
}

function sortedKeys(object: Readonly<Record<string, unknown>>): string[] {
  const keys = Object.keys(object)
  for (let index = 1; index < keys.length; index++)
    if (compareBytes(keys[index - 1]!, keys[index]!) > 0) return keys.sort(compareBytes)
  return keys
}

// A cache, because the same few hundred field names repeat.
const quotedKeys = new Map<string, string>()

function quoteKey(key: string): string {
  let quoted = quotedKeys.get(key)
  if (quoted === undefined) {
    quoted = `${JSON.stringify(key)}:`
    if (quotedKeys.size < 1000) quotedKeys.set(key, quoted)
  }
  return quoted
}
