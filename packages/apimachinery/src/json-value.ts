// SPDX-License-Identifier: Apache-2.0

export type JsonObject = Record<string, unknown>

/**
 * How deep a value may be nested before it is refused. Every walk over a value is recursive; without a limit a
 * hostile document would end in a stack overflow. Kubernetes objects stay far below 100.
 */
export const MAX_JSON_DEPTH = 1000

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Sets an own property under any name; a plain assignment to `__proto__` would change the prototype instead. */
export function setOwn(target: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  } else {
    target[key] = value
  }
}

/** The own property of that name; never one that every object inherits, such as `constructor`. */
export function getOwn(target: JsonObject, key: string): unknown {
  return Object.hasOwn(target, key) ? target[key] : undefined
}

export function cloneJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(cloneJson) as T
  if (!isJsonObject(value)) return value
  const copy: JsonObject = {}
  for (const key of Object.keys(value)) setOwn(copy, key, cloneJson(value[key]))
  return copy as T
}

/** Strict equality of JSON values: an absent key and a null one differ, the order of keys does not matter. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equalJson(item, b[index]))
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every(key => Object.hasOwn(b, key) && equalJson(a[key], b[key]))
  )
}

/** The value with the keys of all objects in ascending order, as Go's encoder writes maps. */
export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (!isJsonObject(value)) return value
  const sorted: JsonObject = {}
  for (const key of Object.keys(value).sort()) setOwn(sorted, key, sortKeys(value[key]))
  return sorted
}

/** Whether the value is nested deeper than `limit`; itself safe on any depth. */
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
