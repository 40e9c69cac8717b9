// SPDX-License-Identifier: Apache-2.0

import type { Response } from './http.ts'

/** Fields that differ between servers and runs. */
const ignored = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp', 'continue'])

/** The order of managers depends on the second of their writes, that of conflicts on a Go map. */
const unordered = new Set(['managedFields', 'causes'])

function byText(list: unknown): unknown {
  if (!Array.isArray(list)) return list
  // A real server repeats a cause of a custom object for each of its validators.
  return [...new Set(list.map(item => JSON.stringify(item)))].sort()
}

/** Returns the parts of a response that two servers must have in common. */
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
      // Keys of custom objects are sorted, and messages are compared below.
      .sort(([one], [other]) => (one < other ? -1 : 1))
      // Messages that contain a whole object, or a Go diff of objects, differ in its metadata.
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
      // Messages about immutable fields contain the value in Go notation.
      /Invalid value: \{.*: field is immutable/.test(value) ||
      // The order of several errors in a message about a custom object depends on a Go map. The causes contain all of
      // them.
      /^Widget\..* is invalid: \[/.test(value))
  )
}
