// SPDX-License-Identifier: Apache-2.0

import type { FieldError } from '@grove/apimachinery'

// An error repeats what the user sent. That is right for names and numbers; a megabyte of it helps nobody, is copied
// into logs and audit trails, and may not even fit into an answer.

const maximumLength = 10 * 1024
const maximumErrors = 500

/** The errors with their long texts cut; all others as they are. */
export function shortened(errors: readonly FieldError[]): FieldError[] {
  const shown = errors.slice(0, maximumErrors).map(shortenedError)
  const rest = errors.length - shown.length
  if (rest === 0) return shown
  return [
    ...shown,
    { kind: 'Invalid value', field: '<nil>', detail: `and ${rest} more errors`, valueOmitted: true },
  ]
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

function cut(text: string): string {
  if (text.length <= maximumLength) return text
  return `${text.slice(0, maximumLength)}… (cut: ${text.length} characters in all)`
}
