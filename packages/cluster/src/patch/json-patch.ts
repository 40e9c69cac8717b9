// SPDX-License-Identifier: Apache-2.0

import { cloneJson, equalJson, isJsonObject, setOwn } from '@grove/apimachinery'

export interface JsonPatchOperation {
  readonly op: string
  readonly path: string
  readonly from?: string
  readonly value?: unknown
}

/** The patch could not be applied to this document. */
export class JsonPatchError extends Error {}

/** As the API server: a patch with more operations is refused before it is looked at. */
export const maximumOperations = 10_000

/** RFC 6902 on a copy. */
export function applyJsonPatch(document: unknown, operations: readonly JsonPatchOperation[]): unknown {
  const root = { value: cloneJson(document) }
  for (const operation of operations) applyOperation(root, operation)
  return root.value
}

function applyOperation(root: { value: unknown }, { op, path, from, value }: JsonPatchOperation): void {
  switch (op) {
    case 'add':
      add(root, path, cloneJson(value))
      return
    case 'remove':
      remove(root, path)
      return
    case 'replace':
      read(root, path)
      replace(root, path, cloneJson(value))
      return
    case 'move': {
      if (path.startsWith(`${from}/`)) throw new JsonPatchError(`cannot move ${from} into itself`)
      add(root, path, remove(root, from ?? ''))
      return
    }
    case 'copy':
      add(root, path, cloneJson(read(root, from ?? '')))
      return
    case 'test':
      if (!equalJson(tryRead(root, path) ?? null, value ?? null))
        throw new JsonPatchError(`testing value ${path} failed`)
      return
    default:
      throw new JsonPatchError(`unexpected kind: ${op}`)
  }
}

function segments(path: string): string[] {
  if (path === '') return []
  if (!path.startsWith('/')) throw new JsonPatchError(`invalid path: ${path}`)
  return path
    .slice(1)
    .split('/')
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The container that holds the last part of a path, and that part. */
function locate(root: { value: unknown }, path: string): { holder: unknown; key: string } {
  const parts = segments(path)
  const key = parts.pop()
  if (key === undefined) return { holder: root, key: 'value' }
  let holder = root.value
  for (const part of parts) holder = child(holder, part, path)
  return { holder, key }
}

function child(holder: unknown, key: string, path: string): unknown {
  if (Array.isArray(holder)) return holder[indexOf(holder, key, path, holder.length - 1)]
  if (isJsonObject(holder) && Object.hasOwn(holder, key)) return holder[key]
  throw new JsonPatchError(`doc is missing path: ${path}`)
}

function indexOf(list: readonly unknown[], key: string, path: string, highest: number): number {
  const index = /^-?(0|[1-9]\d*)$/.test(key) ? Number(key) : Number.NaN
  // Negative indexes count from the end; the library of the API server allows them.
  const place = index < 0 ? list.length + index : index
  if (Number.isNaN(place) || place < 0 || place > highest)
    throw new JsonPatchError(`invalid index in ${path}`)
  return place
}

function read(root: { value: unknown }, path: string): unknown {
  const { holder, key } = locate(root, path)
  return child(holder, key, path)
}

function tryRead(root: { value: unknown }, path: string): unknown {
  try {
    return read(root, path)
  } catch {
    return undefined
  }
}

function add(root: { value: unknown }, path: string, value: unknown): void {
  const { holder, key } = locate(root, path)
  if (Array.isArray(holder))
    holder.splice(key === '-' ? holder.length : indexOf(holder, key, path, holder.length), 0, value)
  else if (isJsonObject(holder)) setOwn(holder, key, value)
  else throw new JsonPatchError(`doc is missing path: ${path}`)
}

function replace(root: { value: unknown }, path: string, value: unknown): void {
  const { holder, key } = locate(root, path)
  if (Array.isArray(holder)) holder[indexOf(holder, key, path, holder.length - 1)] = value
  else setOwn(holder as Record<string, unknown>, key, value)
}

function remove(root: { value: unknown }, path: string): unknown {
  const { holder, key } = locate(root, path)
  const value = child(holder, key, path)
  if (Array.isArray(holder)) holder.splice(indexOf(holder, key, path, holder.length - 1), 1)
  else delete (holder as Record<string, unknown>)[key]
  return value
}
