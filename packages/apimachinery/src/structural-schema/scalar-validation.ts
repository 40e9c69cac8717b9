// SPDX-License-Identifier: Apache-2.0
import { type FieldError, fieldError, formatGoNumber } from '../field-error.ts'
import { dottedPath, type FieldPath } from '../field-path.ts'
import type { SchemaNode, StringRules } from './schema-node.ts'

/** An error in the words of the schema validator: `<path> in body <complaint>`. */
export function invalid(path: FieldPath | undefined, value: unknown, complaint: string): FieldError {
  const name = dottedPath(path)
  return fieldError.invalid(name || '<nil>', value, `${name} in body ${complaint}`)
}

/** Length and pattern of a text. The first violation ends the check, so that a pattern never sees an endless text. */
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

/** Counts characters, not UTF-16 units. */
function characters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

export function checkNumber(
  node: SchemaNode,
  value: number,
  type: 'integer' | 'number',
  path: FieldPath | undefined,
  errors: FieldError[],
): void {
  checkRange(node, value, type, path, errors)
  const rules = node.number
  if (rules === undefined) return
  // An integer is compared with the integer part of a bound.
  const bound = (limit: number) => (type === 'integer' ? Math.trunc(limit) : limit)
  if (rules.multipleOf !== undefined && bound(rules.multipleOf) > 0) {
    const factor = bound(rules.multipleOf)
    const quotient = factor < 1 ? (1 / factor) * value : value / factor
    if (!Number.isInteger(quotient)) {
      errors.push(invalid(path, value, `should be a multiple of ${formatGoNumber(factor)}`))
    }
  }
  if (rules.minimum !== undefined) {
    const minimum = bound(rules.minimum)
    if (rules.exclusiveMinimum ? value <= minimum : value < minimum) {
      const relation = rules.exclusiveMinimum ? 'greater than' : 'greater than or equal to'
      errors.push(invalid(path, value, `should be ${relation} ${formatGoNumber(minimum)}`))
    }
  }
  if (rules.maximum !== undefined) {
    const maximum = bound(rules.maximum)
    if (rules.exclusiveMaximum ? value >= maximum : value > maximum) {
      const relation = rules.exclusiveMaximum ? 'less than' : 'less than or equal to'
      errors.push(invalid(path, value, `should be ${relation} ${formatGoNumber(maximum)}`))
    }
  }
}

const maxFloat32 = 3.4028235677973366e38

/** Whether the number fits the format. The API server reports a misfit without a field; so do we. */
function checkRange(
  node: SchemaNode,
  value: number,
  type: 'integer' | 'number',
  path: FieldPath | undefined,
  errors: FieldError[],
): void {
  const [declared, ...others] = node.types
  if (others.length > 0) return
  let fits = true
  if (declared === 'integer') {
    fits = type === 'integer' && (node.format !== 'int32' || (value >= -(2 ** 31) && value < 2 ** 31))
  } else if (declared === 'number' && node.format === 'float') {
    fits = Math.abs(value) < maxFloat32
  }
  if (fits) return
  const format = node.format === undefined ? '(default format)' : `with format ${node.format}`
  const detail = `Checked value must be of type ${declared} ${format} in ${dottedPath(path)}`
  errors.push(fieldError.invalid('<nil>', '', detail))
}
