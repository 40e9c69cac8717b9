// SPDX-License-Identifier: Apache-2.0

import type { Entry } from './shell.ts'

/** Limits the output, because transcripts are long. */
const shownLines = 12

/** Compares two transcripts of the same commands, and returns the commands with different output. */
export function differences(real: readonly Entry[], embedded: readonly Entry[]): string[] {
  return real.flatMap((wanted, index) => {
    const got = embedded[index]
    const lines = [
      ...lineDifferences(wanted.out, got?.out ?? []),
      ...lineDifferences(wanted.error, got?.error ?? []),
    ]
    return lines.length > 0 ? [`$ kubectl ${wanted.command}`, ...lines] : []
  })
}

/** `-` marks lines of the real cluster only, `+` lines of the embedded cluster only. */
function lineDifferences(real: readonly string[], embedded: readonly string[]): string[] {
  if (real.length === embedded.length && real.every((line, index) => line === embedded[index])) return []
  const missing = without(real, embedded).map(line => `- ${line}`)
  const added = without(embedded, real).map(line => `+ ${line}`)
  const found = [...missing.slice(0, shownLines), ...added.slice(0, shownLines)]
  return found.length > 0 ? found : ['  the same lines in another order']
}

/** Returns the lines that the other list does not have, or has fewer times. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const line of others) counts.set(line, (counts.get(line) ?? 0) + 1)
  return lines.filter(line => {
    const left = counts.get(line) ?? 0
    counts.set(line, left - 1)
    return left <= 0
  })
}
