// SPDX-License-Identifier: Apache-2.0

// The few ASN.1 DER encodings that a certificate needs and node:crypto cannot write. It reads nothing.

export function tlv(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content])
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Buffer.from([0x80 | bytes.length, ...bytes])
}

export const sequence = (...items: Uint8Array[]) => tlv(0x30, ...items)
export const set = (...items: Uint8Array[]) => tlv(0x31, ...items)
export const octets = (content: Uint8Array) => tlv(0x04, content)
export const text = (value: string) => tlv(0x0c, Buffer.from(value))
export const yes = tlv(0x01, Buffer.from([0xff]))
export const explicit = (number: number, content: Uint8Array) => tlv(0xa0 | number, content)
export const implicit = (number: number, content: Uint8Array) => tlv(0x80 | number, content)

/** A bit string whose last `unused` bits do not count. */
export const bits = (content: Uint8Array, unused = 0) => tlv(0x03, Buffer.from([unused]), content)

/** A non-negative integer, given as its bytes: DER wants no leading zeros, but one where the sign bit would be set. */
export function integer(value: Uint8Array): Buffer {
  const from = value.findIndex(byte => byte !== 0)
  const digits = from < 0 ? Buffer.from([0]) : Buffer.from(value.subarray(from))
  return tlv(0x02, ...(digits[0]! & 0x80 ? [Buffer.from([0])] : []), digits)
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return tlv(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(value: number): number[] {
  const digits = [value & 0x7f]
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) digits.unshift((rest & 0x7f) | 0x80)
  return digits
}

/** Certificates write years before 2050 with two digits and the others with four. */
export function time(date: Date): Buffer {
  const digits = `${date.toISOString().slice(0, 19).replaceAll(/[-T:]/g, '')}Z`
  return date.getUTCFullYear() < 2050
    ? tlv(0x17, Buffer.from(digits.slice(2)))
    : tlv(0x18, Buffer.from(digits))
}
