// SPDX-License-Identifier: Apache-2.0
import type { JsonPatchOperation } from '../json-patch.ts'
import { equalJson, isJsonObject, type JsonObject, MAX_JSON_DEPTH } from '../json-value.ts'

/**
 * Creates a JSON patch with only the differences of two values. List items are matched from both ends, which
 * keeps a single insertion, removal or change small. Does not use move or copy. Undefined members count as
 * absent.
 */
export function createJsonPatch(before: unknown, after: unknown): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = []
  compare(before, after, [], operations)
  return operations
}

function compare(
  before: unknown,
  after: unknown,
  path: (string | number)[],
  operations: JsonPatchOperation[],
): void {
  const tooDeep = path.length > MAX_JSON_DEPTH
  if (isJsonObject(before) && isJsonObject(after) && !tooDeep) compareObjects(before, after, path, operations)
  else if (Array.isArray(before) && Array.isArray(after) && !tooDeep)
    compareLists(before, after, path, operations)
  else if (!equalJson(before, after))
    operations.push({ op: 'replace', path: formatPointer(path), value: after })
}

function compareObjects(
  before: JsonObject,
  after: JsonObject,
  path: (string | number)[],
  operations: JsonPatchOperation[],
): void {
  for (const key of Object.keys(before)) {
    if (has(before, key) && !has(after, key)) {
      operations.push({ op: 'remove', path: formatPointer([...path, key]) })
    }
  }
  for (const key of Object.keys(after)) {
    if (!has(after, key)) continue
    path.push(key)
    if (has(before, key)) compare(before[key], after[key], path, operations)
    else operations.push({ op: 'add', path: formatPointer(path), value: after[key] })
    path.pop()
  }
}

function compareLists(
  before: readonly unknown[],
  after: readonly unknown[],
  path: (string | number)[],
  operations: JsonPatchOperation[],
): void {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && equalJson(before[head], after[head])) head++
  let tail = 0
  while (tail < shorter - head && equalJson(before.at(-1 - tail), after.at(-1 - tail))) tail++

  const changed = shorter - head - tail
  for (let index = head; index < head + changed; index++) {
    path.push(index)
    compare(before[index], after[index], path, operations)
    path.pop()
  }
  for (let index = before.length - tail - 1; index >= head + changed; index--) {
    operations.push({ op: 'remove', path: formatPointer([...path, index]) })
  }
  for (let index = head + changed; index < after.length - tail; index++) {
    operations.push({ op: 'add', path: formatPointer([...path, index]), value: after[index] })
  }
}

function has(object: JsonObject, key: string): boolean {
  return Object.hasOwn(object, key) && object[key] !== undefined
}

function formatPointer(tokens: readonly (string | number)[]): string {
  return tokens.map(token => `/${String(token).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
