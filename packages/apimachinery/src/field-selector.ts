// SPDX-License-Identifier: Apache-2.0

export interface FieldRequirement {
  readonly field: string
  readonly value: string
  /** The field must not have the value. */
  readonly negated: boolean
}

/** All requirements must match. An empty selector matches everything. */
export type FieldSelector = readonly FieldRequirement[]

export type FieldSelectorResult =
  | { readonly ok: true; readonly selector: FieldSelector }
  | { readonly ok: false; readonly error: string }

/**
 * Parses `metadata.name=x,status.phase!=Failed`. In a value, a backslash escapes a comma, an equals sign and
 * itself.
 */
export function parseFieldSelector(text: string): FieldSelectorResult {
  const selector: FieldRequirement[] = []
  for (const term of text.match(/(?:\\.|[^,\\]|\\$)+/gsu)?.sort() ?? []) {
    const match = /^(.*?)(!=|==|=)(.*)$/su.exec(term)
    if (!match) return { ok: false, error: `invalid selector: '${text}'; can't understand '${term}'` }
    const value = unescaped(match[3]!)
    if (typeof value !== 'string') return { ok: false, error: `invalid field selector: ${value.problem}` }
    const field = match[1]!
    // Kubernetes ignores a term without a field and a value.
    if (field !== '' || value !== '') selector.push({ field, value, negated: match[2] === '!=' })
  }
  return { ok: true, selector }
}

function unescaped(text: string): string | { readonly problem: string } {
  let value = ''
  for (const [part] of text.matchAll(/\\.?|[^\\]/gsu)) {
    // Kubernetes formats the character as its number.
    if (part === '=') return { problem: `unescaped character in value: ${part.codePointAt(0)}` }
    if (part.startsWith('\\') && !['\\\\', '\\,', '\\='].includes(part)) {
      return { problem: `invalid escape sequence: ${part}` }
    }
    value += part.startsWith('\\') ? part.slice(1) : part
  }
  return value
}

/** `read` returns the value of a field. A missing field has the empty value. */
export function matchesFields(selector: FieldSelector, read: (field: string) => string | undefined): boolean {
  return selector.every(({ field, value, negated }) => ((read(field) ?? '') === value) !== negated)
}
