// SPDX-License-Identifier: Apache-2.0

/** Returns the names that occur more than once, each once, in order of first occurrence. */
export function repeatedNames(names: Iterable<string>): string[] {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].filter(([, count]) => count > 1).map(([name]) => name)
}
