// SPDX-License-Identifier: Apache-2.0

export type JsonObject = Record<string, unknown>

/**
 * The maximum nesting depth of a value. Traversals are recursive, so a deeper document could overflow the
 * stack. Kubernetes objects stay far below 100.
 */
export const MAX_JSON_DEPTH = 1000

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Sets an own property of any name. Assigning to `__proto__` would change the prototype instead. */
export function setOwn(target: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  } else {
    target[key] = value
  }
}

/** Returns the own property of that name, never an inherited one such as `constructor`. */
export function getOwn(target: JsonObject, key: string): unknown {
  return Object.hasOwn(target, key) ? target[key] : undefined
}

/** Returns a deep copy, down to the depth limit. */
export function cloneJson<T>(value: T): T {
  return clone(value, 0) as T
}

function clone(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > MAX_JSON_DEPTH) return value
  if (Array.isArray(value)) return value.map(item => clone(item, depth + 1))
  const copy: JsonObject = {}
  for (const [key, child] of Object.entries(value)) setOwn(copy, key, clone(child, depth + 1))
  return copy
}

/**
 * Strict equality of JSON values: an absent key and a null one differ, and the order of keys does not matter.
 * Values beyond the depth limit are not equal.
 */
export function equalJson(a: unknown, b: unknown): boolean {
  return equal(a, b, 0)
}

function equal(a: unknown, b: unknown, depth: number): boolean {
  if (a === b) return true
  if (depth > MAX_JSON_DEPTH) return false
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) && a.length === b.length && a.every((item, index) => equal(item, b[index], depth + 1))
    )
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every(key => Object.hasOwn(b, key) && equal(a[key], b[key], depth + 1))
  )
}

/** Sorts the keys of all objects, as Go encodes maps. */
export function sortKeys(value: unknown): unknown {
  return sorted(value, 0)
}

function sorted(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > MAX_JSON_DEPTH) return value
  if (Array.isArray(value)) return value.map(item => sorted(item, depth + 1))
  const result: JsonObject = {}
  for (const [key, child] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    setOwn(result, key, sorted(child, depth + 1))
  }
  return result
}

/** Reports whether the value is nested deeper than `limit`. Safe for any depth. */
export function nestedDeeperThan(value: unknown, limit: number): boolean {
  let level: object[] = typeof value === 'object' && value !== null ? [value] : []
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= limit) return true
    const next: object[] = []
    for (const container of level) {
      for (const child of Array.isArray(container) ? container : Object.values(container)) {
        if (typeof child === 'object' && child !== null) next.push(child)
      }
    }
    level = next
  }
  return false
}
