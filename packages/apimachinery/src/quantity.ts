// SPDX-License-Identifier: Apache-2.0

// Resource quantities (`500m`, `1.5Gi`, `12e6`) as Kubernetes parses, compares, adds and formats them. Values
// are exact: an integer times a power of ten, never a floating-point number.
import { trimSpace } from './white-space.ts'

/** The notation of a quantity. A quantity keeps the notation it was parsed from. */
export type QuantityFormat = 'DecimalSI' | 'DecimalExponent' | 'BinarySI'

export interface Quantity {
  /** The value is `unscaled` × 10^`scale`. */
  readonly unscaled: bigint
  readonly scale: number
  readonly format: QuantityFormat
  /** The original text if Kubernetes returns it unchanged; otherwise empty. */
  readonly text: string
  /** Kubernetes stores values that may not fit 64 bits as big decimals. The legacy hash depends on this. */
  readonly isBig: boolean
}

/** `format`, `numeric` and `suffix` have the messages of Kubernetes; `size` is a limit of this package. */
export type QuantityErrorCode = 'format' | 'numeric' | 'suffix' | 'size'

const errorTexts: Record<QuantityErrorCode, string> = {
  format: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  numeric: 'unable to parse numeric part of quantity',
  suffix: "unable to parse quantity's suffix",
  size: 'quantity is too long, or its exponent is too large',
}

export class QuantityError extends Error {
  override readonly name = 'QuantityError'
  readonly code: QuantityErrorCode

  constructor(code: QuantityErrorCode) {
    super(errorTexts[code])
    this.code = code
  }
}

// Kubernetes has no such limits: a text like 1e999999999 makes it compute numbers with as many digits. The
// limits are far above any useful quantity and bound the cost of every function here.
const maximumLength = 1024
const maximumExponent = 1000

const nano = -9
const maximumInt64 = 2n ** 63n - 1n
/** An int64 can represent every number with this many decimal digits. */
const safeDigits = 18

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

// The look-aheads prevent backtracking, so that a rejection takes linear time.
const pattern = /^([+-]?)0*(?!0)(\d*)(?!\d)(\.(\d*)(?!\d))?([eEinumkKMGTP]*[-+]?\d*)$/

interface Suffix {
  readonly base: 2 | 10
  readonly exponent: number
  readonly format: QuantityFormat
}

const namedSuffixes: ReadonlyMap<string, Suffix> = new Map<string, Suffix>([
  ...decimalSuffixes.map(
    (suffix, index) => [suffix, { base: 10, exponent: index * 3 - 9, format: 'DecimalSI' }] as const,
  ),
  ...binarySuffixes
    .map((suffix, index) => [suffix, { base: 2, exponent: index * 10, format: 'BinarySI' }] as const)
    .slice(1),
])

/** Parses a quantity; throws a QuantityError. Accepts everything that Kubernetes accepts, even `.` (0). */
export function parseQuantity(text: string): Quantity {
  const result = tryParse(text)
  if (typeof result === 'string') throw new QuantityError(result)
  return result
}

/** Parses a quantity in JSON: a number, or a string, possibly with white space around it. */
export function readQuantity(value: unknown): Quantity | QuantityError {
  const text =
    typeof value === 'string' ? trimSpace(value) : typeof value === 'number' ? String(value) : undefined
  const result = text === undefined ? 'format' : tryParse(text)
  return typeof result === 'string' ? new QuantityError(result) : result
}

function tryParse(text: string): Quantity | QuantityErrorCode {
  if (text === '') return 'format'
  if (text === '0') return { unscaled: 0n, scale: 0, format: 'DecimalSI', text, isBig: false }
  if (text.length > maximumLength) return 'size'
  const match = pattern.exec(text)
  if (!match) return 'format'
  const negative = match[1] === '-'
  const integer = match[2] || '0'
  const fraction = match[4] ?? ''
  const suffix = parseSuffix(match[5]!)
  if (typeof suffix === 'string') return suffix

  const digits = integer + fraction
  const small = fitsInt64(integer, fraction, suffix)
  if (small) {
    const number = BigInt(digits)
    const amount = suffix.base === 2 ? number << BigInt(suffix.exponent) : number
    const scale = suffix.base === 2 ? 0 : suffix.exponent - fraction.length
    const keepsText =
      suffix.base === 2
        ? (number & 7n) !== 0n
        : scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0')
    return {
      unscaled: negative ? -amount : amount,
      scale: scale + 0, // never -0
      format: suffix.format,
      text: keepsText ? text : '',
      isBig: false,
    }
  }
  // Kubernetes checks the number last, so `k` is 0 but `e-10` is an error.
  if (!/^[^eEinumkKMGTP]*\d/.test(text)) return 'numeric'
  return bigQuantity(negative, BigInt(digits), fraction.length, suffix)
}

/** Reports whether Kubernetes uses its int64 representation, which is narrower than the range of int64. */
function fitsInt64(integer: string, fraction: string, suffix: Suffix): boolean {
  if (suffix.base === 10)
    return integer.length + fraction.length <= safeDigits && suffix.exponent - fraction.length >= nano
  return fraction === '' && 14 - integer.length - Math.trunc(suffix.exponent * 0.3 + 1e-9) >= 0
}

function bigQuantity(negative: boolean, digits: bigint, places: number, suffix: Suffix): Quantity {
  let amount = suffix.base === 2 ? digits << BigInt(suffix.exponent) : digits
  let scale = (suffix.base === 2 ? 0 : suffix.exponent) - places + 0
  let format = suffix.format
  if (amount !== 0n) {
    // Values below 10^-9 are rounded up.
    amount = rescaleUp(amount, scale, nano)
    scale = nano
    if (format === 'BinarySI') {
      if (amount > maximumInt64 * 10n ** 9n) {
        amount = maximumInt64
        scale = 0
      } else if (amount < 10n ** 9n) format = 'DecimalSI'
    }
  }
  return { unscaled: negative ? -amount : amount, scale, format, text: '', isBig: true }
}

function parseSuffix(suffix: string): Suffix | QuantityErrorCode {
  const named = namedSuffixes.get(suffix)
  if (named) return named
  if (!/^[eE][+-]?\d+$/.test(suffix)) return 'suffix'
  const exponent = Number(suffix.slice(1))
  if (Math.abs(exponent) > maximumExponent) return 'size'
  return { base: 10, exponent: exponent + 0, format: 'DecimalExponent' }
}

/** Formats like Kubernetes: the original text if it was canonical enough, else the shortest exact form. */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.text !== '') return quantity.text
  if (quantity.unscaled === 0n) return '0'
  const integer = quantity.format === 'BinarySI' ? exactInteger(quantity) : undefined
  // Small or fractional numbers are formatted as decimals without loss.
  if (integer === undefined || (integer > -1024n && integer < 1024n)) {
    return formatDecimal(quantity, quantity.format === 'DecimalExponent')
  }
  let number = integer
  let step = 0
  while (step < binarySuffixes.length - 1 && number % 1024n === 0n) {
    number /= 1024n
    step++
  }
  return `${number}${binarySuffixes[step]}`
}

function formatDecimal(quantity: Quantity, withExponent: boolean): string {
  const [mantissa, zeros] = withoutTrailingZeros(quantity.unscaled)
  const exponent = quantity.scale + zeros
  let threes = Math.floor(exponent / 3)
  // There is no suffix beyond exa. Kubernetes drops it and formats 1000E as 1. This package keeps the value.
  if (!withExponent) threes = Math.min(threes, 6)
  const number = mantissa * 10n ** BigInt(exponent - threes * 3)
  if (!withExponent) return `${number}${decimalSuffixes[threes + 3]}`
  return threes === 0 ? String(number) : `${number}e${threes * 3}`
}

/** Returns one text for equal values: `1024Mi`, `1Gi` and `1073741824` are all `1Gi`. */
export function normalizeQuantity(quantity: Quantity): string {
  const integer = exactInteger(quantity)
  // Beyond 64 bits, binary suffixes would be capped when parsed again.
  const binary = integer !== undefined && integer % 1024n === 0n && bitsFit(integer)
  return formatQuantity({ ...quantity, format: binary ? 'BinarySI' : 'DecimalSI', text: '' })
}

/** Negative, zero or positive if `left` is less than, equal to or greater than `right`. */
export function compareQuantities(left: Quantity, right: Quantity): number {
  const [a, b] = align(left, right)
  return a < b ? -1 : a > b ? 1 : 0
}

export function equalQuantities(left: Quantity, right: Quantity): boolean {
  return compareQuantities(left, right) === 0
}

/** The sum, in the format of `left`, or of `right` if `left` is zero. Never capped. */
export function addQuantities(left: Quantity, right: Quantity): Quantity {
  const [a, b, scale] = align(left, right)
  return computed(a + b, scale, left.unscaled === 0n ? right.format : left.format)
}

/** The difference, in the format of `left`, or of `right` if `left` is zero. May be negative. */
export function subtractQuantities(left: Quantity, right: Quantity): Quantity {
  const [a, b, scale] = align(left, right)
  return computed(a - b, scale, left.unscaled === 0n ? right.format : left.format)
}

/** Returns the number of units of 10^`scale` (−3: thousandths), rounded away from zero. */
export function quantityValue(quantity: Quantity, scale = 0): bigint {
  const { unscaled } = quantity
  return unscaled < 0n
    ? -rescaleUp(-unscaled, quantity.scale, scale)
    : rescaleUp(unscaled, quantity.scale, scale)
}

export function quantityOf(value: bigint | number, format: QuantityFormat = 'DecimalSI'): Quantity {
  return computed(BigInt(value), 0, format)
}

function computed(unscaled: bigint, scale: number, format: QuantityFormat): Quantity {
  return { unscaled, scale, format, text: '', isBig: !bitsFit(unscaled) }
}

function bitsFit(number: bigint): boolean {
  return number <= maximumInt64 && number >= -maximumInt64
}

function align(left: Quantity, right: Quantity): [a: bigint, b: bigint, scale: number] {
  const scale = Math.min(left.scale, right.scale)
  return [
    left.unscaled * 10n ** BigInt(left.scale - scale),
    right.unscaled * 10n ** BigInt(right.scale - scale),
    scale,
  ]
}

/** Converts a non-negative value to units of another power of ten, rounded up. */
function rescaleUp(amount: bigint, from: number, to: number): bigint {
  if (from >= to) return amount * 10n ** BigInt(from - to)
  const divisor = 10n ** BigInt(to - from)
  return (amount + divisor - 1n) / divisor
}

function exactInteger(quantity: Quantity): bigint | undefined {
  const { unscaled, scale } = quantity
  if (scale >= 0) return unscaled * 10n ** BigInt(scale)
  const divisor = 10n ** BigInt(-scale)
  return unscaled % divisor === 0n ? unscaled / divisor : undefined
}

function withoutTrailingZeros(number: bigint): [mantissa: bigint, zeros: number] {
  if (number === 0n) return [0n, 0]
  const text = String(number)
  let end = text.length
  while (text.charCodeAt(end - 1) === 48) end--
  return end === text.length ? [number, 0] : [BigInt(text.slice(0, end)), text.length - end]
}
