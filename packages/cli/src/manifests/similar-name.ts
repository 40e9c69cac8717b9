// SPDX-License-Identifier: Apache-2.0

/** An additional, a missing or two swapped letters. A larger distance is another word. */
const maximumDistance = 2

/** Returns the known name that is nearest to the written one, ignoring case, or undefined if none is similar. */
export function similarName(written: string, known: readonly string[]): string | undefined {
  const lower = written.toLowerCase()
  return known
    .filter(name => name[0]?.toLowerCase() === lower[0])
    .map(name => ({ name, distance: editDistance(lower, name.toLowerCase()) }))
    .filter(({ distance }) => distance <= maximumDistance)
    .sort((a, b) => a.distance - b.distance)[0]?.name
}

/** Number of insertions, deletions and replacements between two texts. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > maximumDistance) return maximumDistance + 1
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++)
      current.push(
        Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)),
      )
    previous = current
  }
  return previous[b.length]!
}
