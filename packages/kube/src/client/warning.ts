// SPDX-License-Identifier: Apache-2.0

/** Returns the texts of `Warning: 299 - "text"` headers, one or many in one value. Skips everything else. */
export function parseWarnings(header: string | readonly string[] | undefined): string[] {
  if (header === undefined) return []
  const values = typeof header === 'string' ? [header] : header
  return values.flatMap(value =>
    [...value.matchAll(/(?:^|,)\s*299\s+\S+\s+"((?:[^"\\]|\\.)*)"/g)].map(match =>
      match[1]!.replace(/\\(.)/g, '$1'),
    ),
  )
}
