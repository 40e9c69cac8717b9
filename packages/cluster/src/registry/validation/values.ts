// SPDX-License-Identifier: Apache-2.0

// Validation of single values.
import { isIP, isIPv4, isIPv6 } from 'node:net'
import { type FieldError, fieldError, type NameRule } from '@grove/apimachinery'

/** The value must be one of the supported ones. An absent value is valid. */
export function oneOf(value: string | undefined, supported: readonly string[], field: string): FieldError[] {
  return value === undefined || supported.includes(value)
    ? []
    : [fieldError.unsupported(field, value, supported)]
}

export function atLeast(minimum: number, value: number | undefined, field: string): FieldError[] {
  return value === undefined || value >= minimum
    ? []
    : [fieldError.invalid(field, value, `must be greater than or equal to ${minimum}`)]
}

export function between(
  [first, last]: readonly [number, number],
  value: number | undefined,
  field: string,
): FieldError[] {
  return value === undefined || (value >= first && value <= last)
    ? []
    : [fieldError.invalid(field, value, `must be between ${first} and ${last}, inclusive`)]
}

/** The name is required and must obey its rule. */
export function named(value: string | undefined, rule: NameRule, field: string): FieldError[] {
  return value ? obeys(value, rule, field) : [fieldError.required(field)]
}

export function obeys(value: string, rule: NameRule, field: string): FieldError[] {
  return rule(value).map(problem => fieldError.invalid(field, value, problem))
}

/** The name must be valid as a path segment: roles, metrics. */
export const pathSegmentName: NameRule = text => {
  if (text === '.' || text === '..') return [`may not be '${text}'`]
  return ['/', '%'].filter(char => text.includes(char)).map(char => `may not contain '${char}'`)
}

export const ipAddress: NameRule = text =>
  isIP(text) ? [] : ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']

const cidrParts = /^(.+)\/(\d{1,3})$/

export const cidr: NameRule = text => {
  const [, address = '', bits = ''] = cidrParts.exec(text) ?? []
  const isOne = (isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128)
  return isOne ? [] : ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']
}

const percentText =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"

/** A count or a percentage up to the limit. */
export function countOrPercentage(
  value: number | string | undefined,
  field: string,
  { limit = 100 } = {},
): FieldError[] {
  if (value === undefined) return []
  if (typeof value === 'number') return atLeast(0, value, field)
  if (!/^[0-9]+%$/.test(value)) return [fieldError.invalid(field, value, percentText)]
  return Number(value.slice(0, -1)) > limit
    ? [fieldError.invalid(field, value, `must not be greater than ${limit}%`)]
    : []
}
