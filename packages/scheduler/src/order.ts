// SPDX-License-Identifier: Apache-2.0

/** Compares by UTF-16 code units, so the order does not depend on a locale. */
export function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}

/** Returns the first comparison that is not zero. */
export function firstDifference(...comparisons: readonly number[]): number {
  return comparisons.find(comparison => comparison !== 0) ?? 0
}

/** Serializes a plain value with sorted keys: equal values give equal texts. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  entries.sort(([left], [right]) => compareText(left, right))
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalText(inner)}`).join(',')}}`
}

/** Returns a copy of a map with its keys in order. */
export function sortedRecord<Value>(record: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).sort(([left], [right]) => compareText(left, right)))
}
