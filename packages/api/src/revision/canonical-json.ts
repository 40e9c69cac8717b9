// SPDX-License-Identifier: Apache-2.0

import { compareBytes } from './byte-order.ts'

/** Canonical forms are never so deep; what else is compared here may be hostile. */
const deepest = 500

/** JSON without white space and with the keys of all objects in bytewise order: equal values, equal text. */
export function canonicalJson(value: unknown, depth = 0): string {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'null')
  if (depth > deepest) return '"(nested too deep)"'
  if (Array.isArray(value)) return `[${value.map(item => canonicalJson(item, depth + 1)).join(',')}]`
  const object = value as Readonly<Record<string, unknown>>
  let text = ''
  for (const key of Object.keys(object).sort(compareBytes)) {
    const member = object[key]
    if (member === undefined) continue
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(member, depth + 1)}`
  }
  return `{${text}}`
}
