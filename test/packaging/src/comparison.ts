// SPDX-License-Identifier: Apache-2.0

/** Sorts lists of objects, so that the order does not depend on their source. */
export function sorted(list: unknown): unknown[] {
  return [...(list as unknown[])].sort((a, b) => (canonical(a) < canonical(b) ? -1 : 1))
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${name}:${canonical(member)}`)
    .join()}}`
}
