// SPDX-License-Identifier: Apache-2.0

import type { JsonPatchOperation } from '../client/options.ts'

/**
 * Returns the operations (RFC 6902) that turn one JSON value into another, for the differences only. Lists are
 * compared by position, which is exact but not minimal for insertions at the front.
 */
export function diff(from: unknown, to: unknown): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = []
  compare(from, to, '', operations)
  return operations
}

function compare(from: unknown, to: unknown, path: string, operations: JsonPatchOperation[]): void {
  if (from === to) return
  if (Array.isArray(from) && Array.isArray(to)) compareLists(from, to, path, operations)
  else if (isRecord(from) && isRecord(to)) compareRecords(from, to, path, operations)
  else operations.push({ op: 'replace', path, value: to })
}

function compareLists(
  from: readonly unknown[],
  to: readonly unknown[],
  path: string,
  operations: JsonPatchOperation[],
): void {
  for (let i = 0; i < Math.min(from.length, to.length); i++)
    compare(from[i], to[i], `${path}/${i}`, operations)
  for (let i = from.length; i < to.length; i++)
    operations.push({ op: 'add', path: `${path}/${i}`, value: to[i] })
  // From the end, so that the other positions stay valid.
  for (let i = from.length - 1; i >= to.length; i--) operations.push({ op: 'remove', path: `${path}/${i}` })
}

function compareRecords(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
  path: string,
  operations: JsonPatchOperation[],
): void {
  for (const [key, value] of Object.entries(to)) {
    const at = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    // JSON has no undefined, so such a member counts as absent.
    if (value === undefined) continue
    if (Object.hasOwn(from, key) && from[key] !== undefined) compare(from[key], value, at, operations)
    else operations.push({ op: 'add', path: at, value })
  }
  for (const [key, value] of Object.entries(from)) {
    if (value === undefined || (Object.hasOwn(to, key) && to[key] !== undefined)) continue
    operations.push({ op: 'remove', path: `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}` })
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
