// SPDX-License-Identifier: Apache-2.0

/** A parsed duration, or the error message of Go's `time.ParseDuration`. */
export type DurationResult =
  | { readonly ok: true; readonly nanoseconds: bigint }
  | { readonly ok: false; readonly error: string }

const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  '\u00b5s': 1_000n, // micro sign
  '\u03bcs': 1_000n, // Greek letter mu
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}

const maxMagnitude = 1n << 63n
const component = /^(\d*)(?:\.(\d*))?/

/** Parses `1h30m`, `1.5h`, `-90s`, `0`; units ns, us (µs), ms, s, m, h. The range is ±2^63 ns. */
export function parseDuration(text: string): DurationResult {
  const invalid: DurationResult = { ok: false, error: `time: invalid duration ${quoteBytes(text)}` }
  const negative = text.startsWith('-')
  let rest = negative || text.startsWith('+') ? text.slice(1) : text
  if (rest === '0') return { ok: true, nanoseconds: 0n }
  if (rest === '') return invalid

  let total = 0n
  while (rest !== '') {
    const [number, whole = '', fraction = ''] = component.exec(rest)!
    if (whole === '' && fraction === '') return invalid
    const unit = /^[^.\d]+/.exec(rest.slice(number.length))?.[0]
    // Checked first, to avoid computing with numbers of a million digits.
    const digits = whole.replace(/^0+/, '')
    if (digits.length > 19 || BigInt(digits) > maxMagnitude) return invalid
    if (unit === undefined) {
      return { ok: false, error: `time: missing unit in duration ${quoteBytes(text)}` }
    }
    const scale = Object.hasOwn(units, unit) ? units[unit] : undefined
    if (scale === undefined) {
      return { ok: false, error: `time: unknown unit ${quoteBytes(unit)} in duration ${quoteBytes(text)}` }
    }
    total += BigInt(digits) * scale + fractionOf(fraction, scale)
    if (total > maxMagnitude) return invalid
    rest = rest.slice(number.length + unit.length)
  }
  if (!negative && total === maxMagnitude) return invalid
  return { ok: true, nanoseconds: negative ? -total : total }
}

/**
 * Parses a fraction such as `.5`. Go keeps as many digits as fit into 64 bits and computes with
 * floating-point numbers. Exact arithmetic would differ by a nanosecond.
 */
function fractionOf(digits: string, unit: bigint): bigint {
  let kept = 0n
  let scale = 1
  // Further digits have no effect at floating-point precision.
  for (const digit of digits.slice(0, 400)) {
    const longer = kept * 10n + BigInt(digit)
    if (longer > maxMagnitude) break
    kept = longer
    scale *= 10
  }
  return BigInt(Math.trunc(Number(kept) * (Number(unit) / scale)))
}

/** Formats the canonical form: `4h0m0s`, `1m30s`, `1.5s`, `500ms`, `0s`. */
export function formatDuration(nanoseconds: bigint): string {
  const sign = nanoseconds < 0n ? '-' : ''
  const rest = nanoseconds < 0n ? -nanoseconds : nanoseconds
  if (rest === 0n) return '0s'
  if (rest < 1_000n) return `${sign}${rest}ns`
  if (rest < 1_000_000n) return `${sign}${decimal(rest, 3)}µs`
  if (rest < 1_000_000_000n) return `${sign}${decimal(rest, 6)}ms`
  const minutes = rest / 60_000_000_000n
  const seconds = `${decimal(rest % 60_000_000_000n, 9)}s`
  if (minutes === 0n) return sign + seconds
  if (minutes < 60n) return `${sign}${minutes}m${seconds}`
  return `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`
}

/** `value / 10^places`, without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, '0')
  const fraction = digits.slice(-places).replace(/0+$/, '')
  return digits.slice(0, -places) + (fraction === '' ? '' : `.${fraction}`)
}

/** Go's time package quotes non-ASCII characters in its errors byte by byte. */
function quoteBytes(text: string): string {
  let out = ''
  for (const byte of new TextEncoder().encode(text)) {
    if (byte < 0x20 || byte >= 0x80) out += `\\x${byte.toString(16).padStart(2, '0')}`
    else if (byte === 0x22 || byte === 0x5c) out += `\\${String.fromCharCode(byte)}`
    else out += String.fromCharCode(byte)
  }
  return `"${out}"`
}
