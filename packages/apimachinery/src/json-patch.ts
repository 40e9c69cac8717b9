// SPDX-License-Identifier: Apache-2.0
import { parsePointer } from './json-pointer.ts'
import {
  cloneJson,
  equalJson,
  isJsonObject,
  type JsonObject,
  MAX_JSON_DEPTH,
  nestedDeeperThan,
  setOwn,
} from './json-value.ts'

/** One operation of a JSON patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string }

export type JsonPatchResult =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false
      readonly error: string
      /** The patch is valid, but a `test` operation failed. */
      readonly testFailed: boolean
    }

/** The API server rejects a patch with more operations. */
export const maxJsonPatchOperations = 10_000
/** Copies of copies grow exponentially. The API server has the same limit. */
const maxCopiedCharacters = 3 * 1024 * 1024

/** Applies all operations or none. Does not change the value. */
export function applyJsonPatch(value: unknown, patch: unknown): JsonPatchResult {
  try {
    return { ok: true, value: new Application(value).apply(patch) }
  } catch (error) {
    if (!(error instanceof PatchError)) throw error
    return { ok: false, error: error.message, testFailed: error.testFailed }
  }
}

class PatchError extends Error {
  readonly testFailed: boolean

  constructor(message: string, testFailed = false) {
    super(message)
    this.testFailed = testFailed
  }
}

class Application {
  #root: unknown
  #copied = 0

  constructor(value: unknown) {
    this.#root = cloneJson(value)
  }

  apply(patch: unknown): unknown {
    if (!Array.isArray(patch)) throw new PatchError('a JSON patch must be a list of operations')
    if (nestedDeeperThan([this.#root, patch], MAX_JSON_DEPTH)) throw tooDeep()
    if (patch.length > maxJsonPatchOperations) {
      throw new PatchError(
        `the allowed maximum operations in a JSON patch is ${maxJsonPatchOperations}, got ${patch.length}`,
      )
    }
    for (const [index, operation] of patch.entries()) {
      try {
        this.#perform(operation)
      } catch (error) {
        if (!(error instanceof PatchError)) throw error
        throw new PatchError(`operation ${index}: ${error.message}`, error.testFailed)
      }
    }
    return this.#root
  }

  #perform(operation: unknown): void {
    if (!isJsonObject(operation)) throw new PatchError('is not an object')
    const path = pointer(operation, 'path')
    switch (operation.op) {
      case 'add':
        this.#add(path, cloneJson(operand(operation)))
        break
      case 'replace':
        this.#replace(path, cloneJson(operand(operation)))
        break
      case 'remove':
        this.#remove(path)
        break
      case 'move':
        this.#move(pointer(operation, 'from'), path)
        break
      case 'copy':
        this.#copy(pointer(operation, 'from'), path)
        break
      case 'test':
        this.#test(path, operand(operation))
        break
      default:
        throw new PatchError(`unknown op ${JSON.stringify(operation.op)}`)
    }
  }

  #add(path: Pointer, value: unknown): void {
    if (path.tokens.length === 0) {
      this.#root = value
      return
    }
    const [parent, token] = this.#parent(path)
    if (Array.isArray(parent)) {
      const index = token === '-' ? parent.length : position(token, parent.length, path)
      parent.splice(index, 0, value)
    } else setOwn(parent, token, value)
  }

  #replace(path: Pointer, value: unknown): void {
    if (path.tokens.length === 0) {
      this.#root = value
      return
    }
    // A missing member is added. The RFC rejects this, but the API server accepts it.
    const [parent, token] = this.#parent(path)
    if (Array.isArray(parent)) parent[position(token, parent.length - 1, path)] = value
    else setOwn(parent, token, value)
  }

  #remove(path: Pointer): unknown {
    if (path.tokens.length === 0) throw new PatchError('the whole document cannot be removed')
    const removed = this.#get(path)
    const [parent, token] = this.#parent(path)
    if (Array.isArray(parent)) parent.splice(Number(token), 1)
    else delete parent[token]
    return removed
  }

  #move(from: Pointer, path: Pointer): void {
    if (`${path.text}/`.startsWith(`${from.text}/`) && path.text !== from.text) {
      throw new PatchError(`${from.text} cannot be moved into itself`)
    }
    if (path.text === from.text) this.#get(from)
    else this.#add(path, this.#remove(from))
  }

  #copy(from: Pointer, path: Pointer): void {
    const value = this.#get(from)
    if (nestedDeeperThan(value, MAX_JSON_DEPTH)) throw tooDeep()
    this.#copied += JSON.stringify(value).length
    if (this.#copied > maxCopiedCharacters)
      throw new PatchError(`copies more than ${maxCopiedCharacters} characters`)
    this.#add(path, cloneJson(value))
  }

  #test(path: Pointer, expected: unknown): void {
    let actual: unknown
    try {
      actual = this.#get(path)
    } catch (error) {
      if (!(error instanceof PatchError)) throw error
      // A test for null succeeds for a missing member, as in the API server.
      if (expected === null) return
      throw new PatchError(error.message, true)
    }
    if (!equalJson(actual, expected))
      throw new PatchError(`test failed: the value of ${path.text} differs`, true)
  }

  #get(path: Pointer): unknown {
    let at: unknown = this.#root
    for (const token of path.tokens) at = child(at, token, path)
    return at
  }

  #parent(path: Pointer): [JsonObject | unknown[], string] {
    const token = path.tokens.at(-1)!
    let at: unknown = this.#root
    for (const step of path.tokens.slice(0, -1)) at = child(at, step, path)
    if (!Array.isArray(at) && !isJsonObject(at))
      throw new PatchError(`the parent of ${path.text} is not a list or object`)
    return [at, token]
  }
}

function tooDeep(): PatchError {
  return new PatchError(`values nested deeper than ${MAX_JSON_DEPTH} levels cannot be patched`)
}

interface Pointer {
  readonly text: string
  readonly tokens: readonly string[]
}

function pointer(operation: JsonObject, name: 'path' | 'from'): Pointer {
  const text = operation[name]
  const tokens = typeof text === 'string' ? parsePointer(text) : undefined
  if (tokens === undefined)
    throw new PatchError(
      text === undefined ? `${name} is missing` : `${name} ${JSON.stringify(text)} is not a JSON pointer`,
    )
  return { text: text as string, tokens }
}

/** The RFC requires a value, but the API server uses null for a missing one. */
function operand(operation: JsonObject): unknown {
  return Object.hasOwn(operation, 'value') ? operation.value : null
}

function child(container: unknown, token: string, path: Pointer): unknown {
  if (Array.isArray(container)) return container[position(token, container.length - 1, path)]
  if (!isJsonObject(container) || !Object.hasOwn(container, token)) {
    throw new PatchError(`${path.text} does not exist`)
  }
  return container[token]
}

function position(token: string, last: number, path: Pointer): number {
  if (!/^(0|[1-9]\d{0,9})$/.test(token))
    throw new PatchError(`${path.text}: ${JSON.stringify(token)} is not a list index`)
  const index = Number(token)
  if (index > last) throw new PatchError(`${path.text}: index ${token} is out of range`)
  return index
}
