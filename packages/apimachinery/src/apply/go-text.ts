// SPDX-License-Identifier: Apache-2.0

// Formats values like Go. managedFields and error messages of the API server contain this formatting.
import { isJsonObject } from '../json-value.ts'
import { quote } from '../quote.ts'

/** Compares like Go strings: by UTF-8 bytes, which differs from JavaScript for surrogate pairs. */
export function compareGoText(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i)
    const right = b.charCodeAt(i)
    if (left !== right) return inByteOrder(left) - inByteOrder(right)
  }
  return a.length - b.length
}

function inByteOrder(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

const plainText = /^[\w .:/@+-]*$/
const needsGoEscape = /[<>&\u2028\u2029]/g

/** Encodes a string like encoding/json: HTML-safe, and with fewer short escapes. */
export function goJsonString(text: string): string {
  if (plainText.test(text)) return `"${text}"`
  return JSON.stringify(text)
    .replace(needsGoEscape, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/\\[bf\\]/g, short => (short === '\\b' ? '\\u0008' : short === '\\f' ? '\\u000c' : short))
}

/** Compact JSON with sorted keys. */
export function goJson(value: unknown): string {
  if (typeof value === 'string') return goJsonString(value)
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`
  if (!isJsonObject(value)) return value === undefined ? 'null' : JSON.stringify(value)
  const members = sortedKeys(value).map(key => `${goJsonString(key)}:${goJson(value[key])}`)
  return `{${members.join(',')}}`
}

/** `%v` of a decoded JSON value. */
export function goValue(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (typeof value === 'number') return goNumber(value)
  if (Array.isArray(value)) return `[${value.map(goValue).join(' ')}]`
  if (!isJsonObject(value)) return String(value)
  return `map[${sortedKeys(value)
    .map(key => `${key}:${goValue(value[key])}`)
    .join(' ')}]`
}

/** `%#v` of a decoded JSON value. */
export function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'number') return goNumber(value)
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (!isJsonObject(value)) return String(value)
  const members = sortedKeys(value).map(key => `${quote(key)}:${goSyntax(value[key])}`)
  return `map[string]interface {}{${members.join(', ')}}`
}

/** `%T` of a decoded JSON value. */
export function goTypeOf(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'string' ? 'string' : 'map[string]interface {}'
}

function goNumber(value: number): string {
  const size = Math.abs(value)
  if (value === 0 || (size >= 1e-4 && size < 1e21)) return String(value)
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
}

function sortedKeys(value: Record<string, unknown>): string[] {
  return Object.keys(value).sort(compareGoText)
}
