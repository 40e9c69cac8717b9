// SPDX-License-Identifier: Apache-2.0

// The part of ASN.1 DER that is needed to write an X.509 certificate and to find a name in one. node:crypto reads
// certificates for all decisions.

const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  sequence: 0x30,
  set: 0x31,
  utcTime: 0x17,
  generalizedTime: 0x18,
} as const

function value(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content])
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Buffer.from([0x80 | bytes.length, ...bytes])
}

export const der = {
  sequence: (...parts: readonly Uint8Array[]) => value(tags.sequence, ...parts),
  set: (...parts: readonly Uint8Array[]) => value(tags.set, ...parts),
  octetString: (content: Uint8Array) => value(tags.octetString, content),
  utf8String: (text: string) => value(tags.utf8String, Buffer.from(text)),
  boolean: (truth: boolean) => value(tags.boolean, Buffer.from([truth ? 0xff : 0])),
  null: () => value(tags.null),

  /** Encodes a non-negative number, given as bytes, most significant first. */
  integer: (bytes: Uint8Array) => {
    let start = 0
    while (start < bytes.length - 1 && bytes[start] === 0) start++
    const trimmed = bytes.subarray(start)
    return value(tags.integer, Buffer.from(trimmed[0]! & 0x80 ? [0] : []), trimmed)
  },

  bitString: (content: Uint8Array, unusedBits = 0) =>
    value(tags.bitString, Buffer.from([unusedBits]), content),

  oid: (dotted: string) => {
    const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
    return value(tags.oid, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
  },

  /** Certificates write years before 2050 with two digits. */
  time: (epochMs: number) => {
    const text = new Date(epochMs).toISOString().replace(/[-:T]|\.\d+/g, '')
    return text < '2050'
      ? value(tags.utcTime, Buffer.from(text.slice(2)))
      : value(tags.generalizedTime, Buffer.from(text))
  },

  /** `[n]` with the content inside. */
  explicit: (n: number, content: Uint8Array) => value(0xa0 | n, content),
  /** `[n]` in place of the content's own tag. */
  implicit: (n: number, content: Uint8Array) => value(0x80 | n, content),
}

function base128(n: number): number[] {
  const bytes = [n & 0x7f]
  for (let rest = Math.floor(n / 128); rest > 0; rest = Math.floor(rest / 128))
    bytes.unshift((rest & 0x7f) | 0x80)
  return bytes
}

/** One DER value. `raw` includes tag and length. */
export interface DerValue {
  readonly tag: number
  readonly content: Buffer
  readonly raw: Buffer
}

/** Splits a sequence of values. Throws a RangeError if a length exceeds the input. */
export function readDer(bytes: Buffer): DerValue[] {
  const values: DerValue[] = []
  for (let at = 0; at < bytes.length; ) {
    const short = bytes.readUInt8(at + 1)
    const lengthBytes = short & 0x80 ? short & 0x7f : 0
    const length = lengthBytes ? bytes.readUIntBE(at + 2, lengthBytes) : short
    const start = at + 2 + lengthBytes
    if (start + length > bytes.length) throw new RangeError('DER value exceeds its container')
    values.push({
      tag: bytes[at]!,
      content: bytes.subarray(start, start + length),
      raw: bytes.subarray(at, start + length),
    })
    at = start + length
  }
  return values
}
