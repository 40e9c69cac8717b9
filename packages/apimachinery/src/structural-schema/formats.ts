// SPDX-License-Identifier: Apache-2.0
import { isIP, isIPv6 } from 'node:net'
import { parseDuration } from '../duration.ts'
import { dns1123Label, dns1123Subdomain } from '../names.ts'
import { parseRequestUri } from '../request-uri.ts'
import type { JsonType } from './schema-node.ts'

type FormatCheck = (text: string) => boolean

/** Returns the format of a schema node if the API server enforces it. Other formats have no effect. */
export function supportedFormat(types: readonly JsonType[], format: string | undefined): string | undefined {
  if (!format) return undefined
  const type = types.length === 1 ? types[0] : undefined
  switch (type) {
    case undefined:
    case 'string':
      return checks.has(normalized(format)) ? format : undefined
    case 'integer':
      return format === 'int32' || format === 'int64' ? format : undefined
    case 'number':
      return format === 'float' || format === 'double' ? format : undefined
    default:
      return undefined
  }
}

/** Returns the check of a string format; undefined for number formats. */
export function formatCheck(format: string): FormatCheck | undefined {
  return checks.get(normalized(format))
}

function normalized(format: string): string {
  return format.replaceAll('-', '')
}

const checks: ReadonlyMap<string, FormatCheck> = new Map<string, FormatCheck>([
  ['bsonobjectid', text => /^[0-9a-f]{24}$/i.test(text)],
  ['byte', isBase64],
  ['cidr', isCidr],
  ['creditcard', isCreditCard],
  ['date', isDate],
  ['datetime', isDateTime],
  ['duration', isDuration],
  ['email', isEmail],
  ['hexcolor', text => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text)],
  ['hostname', isHostname],
  ['ipv4', text => text.includes('.') && isIP(withoutLeadingZeros(text)) !== 0],
  ['ipv6', text => isIPv6(text) && !text.includes('%')],
  ['isbn', text => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['k8slongname', text => dns1123Subdomain(text).length === 0],
  ['k8sshortname', text => dns1123Label(text).length === 0],
  ['mac', isMac],
  ['password', () => true],
  ['rgbcolor', isRgbColor],
  ['ssn', text => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ['uri', text => parseRequestUri(text) !== undefined],
  ['uuid', text => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text)],
  ['uuid3', text => /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text)],
  ['uuid4', text => /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text)],
  ['uuid5', text => /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text)],
])

function isBase64(text: string): boolean {
  return text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (!match) return false
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number]
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

function daysIn(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]!
}

function isDateTime(text: string): boolean {
  const [date = '', time = ''] = text.toLowerCase().split('t')
  const match = /^(\d{2}):(\d{2}):(\d{2})(.\d+)?(z|[+-]\d{2}:\d{2})$/.exec(time)
  return isDate(date) && match !== null && match[1]! <= '23' && match[2]! <= '59' && match[3]! <= '59'
}

/** A Go duration, or Scala's form: `2 days`, `3 hours`. */
function isDuration(text: string): boolean {
  if (parseDuration(text).ok) return true
  for (const [, unit = ''] of text.matchAll(/\d+\s*([A-Za-zµ]+)/g)) {
    if (/^(ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/i.test(unit))
      return true
  }
  return false
}

const emailAtom = "[\\w!#$%&'*+\\-/=?^`{|}~\\u0080-\\uffff]+"
const emailAtoms = `${emailAtom}(?:\\.${emailAtom})*`
const emailAddress = new RegExp(
  `^(?:${emailAtoms}|"(?:[^"\\\\]|\\\\.)*")@(?:${emailAtoms}|\\[[^\\s[\\]]*\\])$`,
)

/** An address alone, or in angle brackets after a display name. RFC 5322 comments are rejected. */
function isEmail(text: string): boolean {
  return emailAddress.test(/^[^<>]*<([^<>]*)>$/.exec(text.trim())?.[1] ?? text.trim())
}

/** Labels of a full name may have dashes anywhere, a single label only after its first character. */
const hostname =
  /^([a-zA-Z0-9\p{S}\p{L}](-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|([a-zA-Z0-9\p{S}\p{L}]([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u

function isHostname(text: string): boolean {
  const bytes = (part: string) => Buffer.byteLength(part)
  return bytes(text) <= 255 && hostname.test(text) && text.split('.').every(label => bytes(label) <= 63)
}

function withoutLeadingZeros(text: string): string {
  return text.replace(/(^|[.:])0+(?=\d)/g, '$1')
}

function isCidr(text: string): boolean {
  const slash = text.indexOf('/')
  const address = withoutLeadingZeros(text.slice(0, slash))
  const version = slash < 0 || address.includes('%') ? 0 : isIP(address)
  const bits = text.slice(slash + 1)
  return version !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)
}

function isMac(text: string): boolean {
  return (
    (/^[0-9a-f]{2}([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2})*$/i.test(text) && [17, 23, 59].includes(text.length)) ||
    (/^[0-9a-f]{4}(\.[0-9a-f]{4})+$/i.test(text) && [14, 19, 49].includes(text.length))
  )
}

function isRgbColor(text: string): boolean {
  const part = '\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*'
  return new RegExp(`^rgb\\(${part},${part},${part}\\)$`).test(text)
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '')
  const known =
    /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/
  if (!known.test(digits)) return false
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const doubled = Number(digit) * (index % 2 === 1 ? 2 : 1)
    return total + (doubled >= 10 ? (doubled % 10) + 1 : doubled)
  }, 0)
  return sum % 10 === 0
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^(?:\d{9}X|\d{10})$/.test(digits)) return false
  const sum = [...digits].reduce(
    (total, digit, index) => total + (index + 1) * (digit === 'X' ? 10 : Number(digit)),
    0,
  )
  return sum % 11 === 0
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^\d{13}$/.test(digits)) return false
  const sum = [...digits].reduce(
    (total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3),
    0,
  )
  return sum % 10 === 0
}
