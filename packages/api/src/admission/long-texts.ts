// SPDX-License-Identifier: Apache-2.0

import { type FieldError, renderFieldError, renderFieldErrors } from '@grove/apimachinery'

// An error repeats input of the user. That is useful for names and numbers. A megabyte of it would be copied into logs
// and audit records, and might not even fit into a response.

/** Limits of an admission response. Lengths are in characters. */
export const messageLimits = {
  errors: 500,
  /** All errors together. */
  message: 64 * 1024,
  /** One value, one detail or one field of an error. */
  text: 10 * 1024,
  warnings: 100,
  /** API servers truncate warnings of more than 256 characters when they are many. */
  warning: 1024,
} as const

/** Equal errors are reported once. At most this many errors are compared to find different ones. */
const examinedErrors = 10 * messageLimits.errors
/** Room for the brackets around all errors and the count at the end. */
const reserved = 100

/** The message of a rejection: all errors in one bounded text that ends with the number of omitted errors. */
export function rejectionMessage(errors: readonly FieldError[]): string {
  return cut(renderFieldErrors(shortened(errors)), messageLimits.message)
}

/** Removes equal errors, truncates long texts and keeps as many errors as fit. */
export function shortened(errors: readonly FieldError[]): FieldError[] {
  const shown = new Map<string, FieldError>()
  const values = new Map<unknown, unknown>()
  let room = messageLimits.message - reserved
  let last: FieldError | undefined
  for (const [position, error] of errors.entries()) {
    if (last && isSame(error, last)) continue
    last = error
    const further = (): FieldError[] => [...shown.values(), furtherErrors(errors.length - position)]
    if (shown.size === messageLimits.errors || position >= examinedErrors) return further()
    const short = shortenedError(error, values)
    const text = renderFieldError(short)
    if (shown.has(text)) continue
    room -= text.length + ', '.length
    // Always include the first error: without it the message is empty.
    if (room < 0 && shown.size > 0) return further()
    shown.set(text, short)
  }
  return [...shown.values()]
}

/** A cheap comparison for long runs of one error, which a repeated mistake causes. */
function isSame(a: FieldError, b: FieldError): boolean {
  return a.field === b.field && a.kind === b.kind && a.detail === b.detail && a.value === b.value
}

function furtherErrors(count: number): FieldError {
  return {
    kind: 'Invalid value',
    field: '<nil>',
    detail: `and ${count} more errors`,
    valueOmitted: true,
  }
}

/** Warnings of a response: without duplicates, bounded in number and length. */
export function shortenedWarnings(warnings: readonly string[]): string[] {
  const different = [...new Set(warnings)]
  const shown = different.slice(0, messageLimits.warnings).map(text => cut(text, messageLimits.warning))
  const more = different.length - shown.length
  return more > 0 ? [...shown, `and ${more} more warnings`] : shown
}

function shortenedError(error: FieldError, values: Map<unknown, unknown>): FieldError {
  const { value, detail, field } = error
  const shortValue = shortenedValue(value, values)
  const isShort = detail.length <= messageLimits.text && field.length <= messageLimits.text
  if (shortValue === value && isShort) return error
  return { ...error, value: shortValue, detail: cut(detail), field: cut(field) }
}

/** Many errors may quote the same list: `values` caches its shortened form. */
function shortenedValue(value: unknown, values: Map<unknown, unknown>): unknown {
  if (typeof value === 'string') return cut(value)
  if (typeof value !== 'object' || value === null) return value
  if (!values.has(value)) {
    const text = JSON.stringify(value)
    values.set(value, text.length > messageLimits.text ? cut(text) : value)
  }
  return values.get(value)
}

export function cut(text: string, limit: number = messageLimits.text): string {
  if (text.length <= limit) return text
  return `${text.slice(0, limit)}… (cut: ${text.length} characters in all)`
}
