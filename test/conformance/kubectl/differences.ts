// SPDX-License-Identifier: Apache-2.0

import type { Entry } from './shell.ts'

/** As much as helps; transcripts are long. */
const shownLines = 12

/** What two people saw who typed the same, command by command, where it was not the same. */
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

/** `-` only on the real one, `+` only on the embedded one. */
function lineDifferences(real: readonly string[], embedded: readonly string[]): string[] {
  if (real.length === embedded.length && real.every((line, index) => line === embedded[index])) return []
  const missing = without(real, embedded).map(line => `- ${line}`)
  const added = without(embedded, real).map(line => `+ ${line}`)
  const found = [...missing.slice(0, shownLines), ...added.slice(0, shownLines)]
  return found.length > 0 ? found : ['  the same lines in another order']
}

/** The lines that the others do not have, or not as often. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const line of others) counts.set(line, (counts.get(line) ?? 0) + 1)
  return lines.filter(line => {
    const left = counts.get(line) ?? 0
    counts.set(line, left - 1)
    return left <= 0
  })
}
