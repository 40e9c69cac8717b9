// SPDX-License-Identifier: Apache-2.0

/** Keeps one copy of strings that many objects repeat: label values, images, node names. */
export interface Interner {
  (text: string): string
  (text: string | undefined): string | undefined
}

/** Limit of distinct strings. At the limit the table is cleared, which costs memory but stays correct. */
const maxStrings = 65_536

/** JSON.parse gives each object its own copy of every longer string. An interner returns the first copy instead. */
export function createInterner(): Interner {
  const known = new Map<string, string>()
  function intern(text: string): string
  function intern(text: string | undefined): string | undefined
  function intern(text: string | undefined): string | undefined {
    if (text === undefined) return undefined
    const first = known.get(text)
    if (first !== undefined) return first
    if (known.size >= maxStrings) known.clear()
    known.set(text, text)
    return text
  }
  return intern
}

/** Copies labels or annotations with interned values. */
export function internValues(
  values: Readonly<Record<string, string>> | undefined,
  intern: Interner,
): Record<string, string> | undefined {
  if (values === undefined) return undefined
  const copy: Record<string, string> = {}
  for (const key in values) copy[key] = intern(values[key]!)
  return copy
}
