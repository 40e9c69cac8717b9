// SPDX-License-Identifier: Apache-2.0

import { compareBytes } from './byte-order.ts'

/** JSON without white space and with the keys of all objects in bytewise order: equal values, equal text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const object = value as Readonly<Record<string, unknown>>
    let text = ''
    for (const key of Object.keys(object).sort(compareBytes)) {
      text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(object[key])}`
    }
    return `{${text}}`
  }
  return typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'null')
}
