// SPDX-License-Identifier: Apache-2.0

import type { Response } from './http.ts'

/** Members that differ from server to server and from run to run. */
const ignored = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp', 'continue'])

/** The order of owners depends on the second in which they wrote, that of conflicts on a Go map. */
const unordered = new Set(['managedFields', 'causes'])

function byText(list: unknown): unknown {
  if (!Array.isArray(list)) return list
  // Causes of custom kinds are repeated, once for every part of the real server that found them.
  return [...new Set(list.map(item => JSON.stringify(item)))].sort()
}

/** What two servers must agree on about an response. */
export function comparable(response: Response): unknown {
  return { status: response.status, body: strip(response.body) }
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip)
  if (typeof value === 'string')
    return value
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<uid>')
      .replaceAll(/in record \(\d+\)/g, 'in record (<version>)')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !ignored.has(key))
      // Custom kinds have their keys in the order of the alphabet, and texts are compared below.
      .sort(([one], [other]) => (one < other ? -1 : 1))
      // Messages that repeat a whole object, or a difference of objects in Go's notation, differ in its metadata.
      .map(([key, inner]) => [
        key,
        key === 'message' && isLong(inner)
          ? '<long>'
          : unordered.has(key)
            ? byText(strip(inner))
            : strip(inner),
      ]),
  )
}

function isLong(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    (value.includes('patch: Invalid value') ||
      /^Invalid value: "(\{|map\[)/.test(value) ||
      value.includes('pod updates may not change') ||
      // What may not change is repeated in the notation of Go.
      /Invalid value: \{.*: field is immutable/.test(value) ||
      // Several problems of a custom object are found in the order of a Go map; the causes have them all.
      /^Widget\..* is invalid: \[/.test(value))
  )
}
