// SPDX-License-Identifier: Apache-2.0

/** The white space of Go's `unicode.IsSpace`. JavaScript's `trim` lacks U+0085, and removes U+FEFF too. */
const spaces: ReadonlySet<string> = new Set(
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
)

/** Removes white space at both ends, as Kubernetes components do. */
export function trimSpace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && spaces.has(text[start]!)) start++
  while (end > start && spaces.has(text[end - 1]!)) end--
  return text.slice(start, end)
}

/** Reports whether a text is absent, empty or white space. */
export function isBlank(text: string | undefined): boolean {
  return text === undefined || trimSpace(text) === ''
}
