// SPDX-License-Identifier: Apache-2.0
import { type FieldError, fieldError, formatGoFloat, formatGoNumber } from '../field-error.ts'
import { dottedPath, type FieldPath } from '../field-path.ts'
import type { SchemaNode, StringRules } from './schema-node.ts'

/** An error in the format of the schema validator: `<path> in body <complaint>`. */
export function invalid(path: FieldPath | undefined, value: unknown, complaint: string): FieldError {
  const name = dottedPath(path)
  return fieldError.invalid(name || '<nil>', value, `${name} in body ${complaint}`)
}

/**
 * Validates length and pattern of a string. Stops at the first violation, so that a pattern is never applied
 * to a string that is too long.
 */
export function checkString(
  rules: StringRules,
  text: string,
  path: FieldPath | undefined,
  errors: FieldError[],
): void {
  const { minLength, maxLength, pattern } = rules
  if (maxLength !== undefined && text.length > maxLength && characters(text) > maxLength) {
    errors.push(fieldError.tooLong(dottedPath(path) || '<nil>', maxLength))
  } else if (minLength !== undefined && text.length < 2 * minLength && characters(text) < minLength) {
    errors.push(invalid(path, text, `should be at least ${minLength} chars long`))
  } else if (pattern && !pattern.expression.test(text)) {
    errors.push(invalid(path, text, `should match '${pattern.source}'`))
  }
}

/** Counts Unicode code points, not UTF-16 units. */
function characters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

/** Validates the range of the format, then the bounds. */
export function checkNumber(
  node: SchemaNode,
  value: number,
  type: 'integer' | 'number',
  path: FieldPath | undefined,
  errors: FieldError[],
): void {
  if (!fitsFormat(node, value)) errors.push(formatError(node, 'Checked', path))
  const { number: rules } = node
  if (rules === undefined) return
  // An integer is compared with the integer part of a bound, unless the bound does not fit the type of the
  // schema.
  const asInteger = (limit: number) => type === 'integer' && fitsFormat(node, limit)
  const bound = (limit: number) => (asInteger(limit) ? Math.trunc(limit) : limit)
  const shown = (limit: number) => (asInteger(limit) ? formatGoNumber : formatGoFloat)(bound(limit))
  const { multipleOf, minimum, maximum } = rules
  if (multipleOf !== undefined) {
    if (!fitsFormat(node, multipleOf)) errors.push(formatError(node, 'MultipleOf', path))
    if (bound(multipleOf) === 0) errors.push(noFactor(path))
    else if (!isMultiple(value, bound(multipleOf))) {
      errors.push(invalid(path, value, `should be a multiple of ${shown(multipleOf)}`))
    }
  }
  if (minimum !== undefined) {
    if (!fitsFormat(node, minimum)) errors.push(formatError(node, 'Minimum boundary', path))
    if (rules.exclusiveMinimum ? value <= bound(minimum) : value < bound(minimum)) {
      const relation = rules.exclusiveMinimum ? 'greater than' : 'greater than or equal to'
      errors.push(invalid(path, value, `should be ${relation} ${shown(minimum)}`))
    }
  }
  if (maximum !== undefined) {
    if (!fitsFormat(node, maximum)) errors.push(formatError(node, 'Maximum boundary', path))
    if (rules.exclusiveMaximum ? value >= bound(maximum) : value > bound(maximum)) {
      const relation = rules.exclusiveMaximum ? 'less than' : 'less than or equal to'
      errors.push(invalid(path, value, `should be ${relation} ${shown(maximum)}`))
    }
  }
}

/** The API server rejects multipleOf with a fraction for an integer, because it cannot compute it. */
function noFactor(path: FieldPath | undefined): FieldError {
  const name = dottedPath(path)
  return fieldError.invalid(name || '<nil>', 0, `factor MultipleOf declared for ${name} must be positive: 0`)
}

function isMultiple(value: number, factor: number): boolean {
  const quotient = factor < 1 ? (1 / factor) * value : value / factor
  // Beyond this all floating-point numbers are integers. The API server rejects them.
  return Number.isInteger(quotient) && Math.abs(quotient) <= Number.MAX_SAFE_INTEGER
}

const maxFloat32 = 3.4028235677973366e38

function fitsFormat(node: SchemaNode, value: number): boolean {
  if (node.types.length !== 1) return true
  switch (node.types[0]) {
    case 'integer': {
      const limit = node.format === 'int32' ? 2 ** 31 : 2 ** 63
      return Number.isInteger(value) && value >= -limit && value < limit
    }
    case 'number':
      return node.format !== 'float' || Math.abs(value) < maxFloat32
    default:
      return true
  }
}

/** The API server reports a number that does not fit its format without a field. */
function formatError(node: SchemaNode, subject: string, path: FieldPath | undefined): FieldError {
  const format = node.format === undefined ? '(default format)' : `with format ${node.format}`
  const detail = `${subject} value must be of type ${node.types[0]} ${format} in ${dottedPath(path)}`
  return fieldError.invalid('<nil>', '', detail)
}
