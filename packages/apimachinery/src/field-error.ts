// SPDX-License-Identifier: Apache-2.0

import { quote } from './quote.ts'

/** The types of validation errors in Kubernetes, as they appear in messages. */
export type FieldErrorKind =
  | 'Required value'
  | 'Invalid value'
  | 'Duplicate value'
  | 'Unsupported value'
  | 'Forbidden'
  | 'Not found'
  | 'Too long'
  | 'Too many'
  | 'Internal error'

/** An error of one field. `value` is the invalid value as JSON (undefined for types without a value). */
export interface FieldError {
  readonly kind: FieldErrorKind
  /** `spec.template.cliques[2].name`; map keys follow a dot. */
  readonly field: string
  readonly value?: unknown
  readonly detail: string
  /** The value has the wrong JSON type: the message of an invalid value with another reason. */
  readonly wrongType?: true
  /** The message omits the value, for example if a rule applies to a whole object. */
  readonly valueOmitted?: true
}

export const fieldError = {
  required: (field: string, detail = ''): FieldError => ({ kind: 'Required value', field, detail }),
  invalid: (field: string, value: unknown, detail: string): FieldError => ({
    kind: 'Invalid value',
    field,
    value,
    detail,
  }),
  wrongType: (field: string, value: unknown, detail: string): FieldError => ({
    kind: 'Invalid value',
    field,
    value,
    detail,
    wrongType: true,
  }),
  duplicate: (field: string, value: unknown): FieldError => ({
    kind: 'Duplicate value',
    field,
    value,
    detail: '',
  }),
  unsupported: (field: string, value: unknown, supported: readonly string[]): FieldError => ({
    kind: 'Unsupported value',
    field,
    value,
    detail: `supported values: ${supported.map(quote).join(', ')}`,
  }),
  forbidden: (field: string, detail: string): FieldError => ({ kind: 'Forbidden', field, detail }),
  notFound: (field: string, value: unknown): FieldError => ({ kind: 'Not found', field, value, detail: '' }),
  tooLong: (field: string, limit: number): FieldError => ({
    kind: 'Too long',
    field,
    detail: `may not be more than ${limit} ${limit === 1 ? 'byte' : 'bytes'}`,
  }),
  tooMany: (field: string, actual: number, limit: number): FieldError => ({
    kind: 'Too many',
    field,
    value: actual,
    detail: `must have at most ${limit} ${limit === 1 ? 'item' : 'items'}`,
  }),
  internal: (field: string, detail: string): FieldError => ({ kind: 'Internal error', field, detail }),
  immutable: (field: string, value: unknown): FieldError => ({
    kind: 'Invalid value',
    field,
    value: value ?? null,
    detail: 'field is immutable',
  }),
}

const kindsWithValue: ReadonlySet<FieldErrorKind> = new Set([
  'Invalid value',
  'Duplicate value',
  'Unsupported value',
  'Not found',
  'Too many',
])

/** The reason in the causes of a Kubernetes Status. */
export function fieldErrorReason(error: FieldError): string {
  return error.wrongType ? 'FieldValueTypeInvalid' : reasons[error.kind]
}

const reasons: Record<FieldErrorKind, string> = {
  'Required value': 'FieldValueRequired',
  'Invalid value': 'FieldValueInvalid',
  'Duplicate value': 'FieldValueDuplicate',
  'Unsupported value': 'FieldValueNotSupported',
  Forbidden: 'FieldValueForbidden',
  'Not found': 'FieldValueNotFound',
  'Too long': 'FieldValueTooLong',
  'Too many': 'FieldValueTooMany',
  'Internal error': 'InternalError',
}

/** Formats the error without its field: `Invalid value: 3: must be …`. */
export function describeFieldError(error: FieldError): string {
  const parts: string[] = [error.kind]
  if (kindsWithValue.has(error.kind) && !error.valueOmitted) parts.push(renderValue(error.value))
  if (error.detail) parts.push(error.detail)
  return parts.join(': ')
}

/** Formats the error like Kubernetes: `<field>: <type>: <value>: <detail>`. */
export function renderFieldError(error: FieldError): string {
  return `${error.field}: ${describeFieldError(error)}`
}

/** Formats all errors without duplicates: one alone, several as `[a, b]`. */
export function renderFieldErrors(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map(renderFieldError))]
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`
}

function renderValue(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (value === undefined) return 'null'
  if (typeof value === 'number') return formatGoNumber(value)
  return escapeHtml(JSON.stringify(value) ?? 'null')
}

/** Formats a number like Go: decoded integers in full, other numbers as floats. */
export function formatGoNumber(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63
    ? BigInt(value).toString()
    : formatGoFloat(value)
}

/** Formats a floating-point number like Go's `%v`: two exponent digits, below 1e-04 and from 1e+06. */
export function formatGoFloat(value: number): string {
  const size = Math.abs(value)
  const text = size !== 0 && (size < 1e-4 || size >= 1e6) ? value.toExponential() : String(value)
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}

/** Go's JSON encoder escapes these characters for use in HTML. */
function escapeHtml(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
