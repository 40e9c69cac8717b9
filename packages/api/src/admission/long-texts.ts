// SPDX-License-Identifier: Apache-2.0

import { type FieldError, renderFieldError } from '@grove/apimachinery'

// An error repeats what the user sent. That is right for names and numbers; a megabyte of it helps nobody, is copied
// into logs and audit trails, and may not even fit into an answer.

const maximumLength = 10 * 1024
const maximumErrors = 500
const maximumWarnings = 100

/** The errors, equal ones once, with their long texts cut; all others as they are. */
export function shortened(errors: readonly FieldError[]): FieldError[] {
  const shown = new Map<string, FieldError>()
  let last: FieldError | undefined
  for (const error of errors) {
    if (last && isSame(error, last)) continue
    last = error
    if (shown.size === maximumErrors) return [...shown.values(), furtherErrors(errors.length)]
    const short = shortenedError(error)
    shown.set(renderFieldError(short), short)
  }
  return [...shown.values()]
}

/** Cheap, for the long rows of one and the same error that a repeated mistake makes. */
function isSame(a: FieldError, b: FieldError): boolean {
  return a.field === b.field && a.kind === b.kind && a.detail === b.detail && a.value === b.value
}

function furtherErrors(count: number): FieldError {
  return {
    kind: 'Invalid value',
    field: '<nil>',
    detail: `and more, ${count} errors in all`,
    valueOmitted: true,
  }
}

/** Clients show warnings line by line, and API servers cut them much earlier than this. */
export function shortenedWarnings(warnings: readonly string[]): string[] {
  const shown = [...new Set(warnings)]
  if (shown.length <= maximumWarnings) return shown.map(cut)
  return [...shown.slice(0, maximumWarnings).map(cut), `and ${shown.length - maximumWarnings} more warnings`]
}

function shortenedError(error: FieldError): FieldError {
  const { value, detail, field } = error
  const shortValue = shortenedValue(value)
  if (shortValue === value && detail.length <= maximumLength && field.length <= maximumLength) return error
  return { ...error, value: shortValue, detail: cut(detail), field: cut(field) }
}

function shortenedValue(value: unknown): unknown {
  if (typeof value === 'string') return cut(value)
  if (typeof value !== 'object' || value === null) return value
  const text = JSON.stringify(value)
  return text.length > maximumLength ? cut(text) : value
}

export function cut(text: string): string {
  if (text.length <= maximumLength) return text
  return `${text.slice(0, maximumLength)}… (cut: ${text.length} characters in all)`
}
