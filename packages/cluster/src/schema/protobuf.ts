// SPDX-License-Identifier: Apache-2.0

// Decodes the protobuf encoding of built-in kinds, which Go clients send by default. Responses are always
// JSON, which these clients accept too.
import type { JsonObject } from '@grove/apimachinery'
import type { Field, FieldType, Scalar, StructType } from './type-table.ts'

/** The bytes are not a message of the expected kind. */
export class ProtobufError extends Error {}

const magic = Buffer.from('k8s\0')

export interface ProtobufObject {
  readonly apiVersion: string
  readonly kind: string
  /** The encoded message. Decoding it needs the kind. */
  readonly raw: Uint8Array
}

/** Decodes the envelope (`runtime.Unknown`) of an object. */
export function openEnvelope(body: Uint8Array): ProtobufObject {
  if (!Buffer.from(body.subarray(0, magic.length)).equals(magic))
    throw new ProtobufError(
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    )
  let apiVersion = ''
  let kind = ''
  let raw: Uint8Array = new Uint8Array()
  for (const { number, value } of entries(body.subarray(magic.length))) {
    if (number === 1) {
      for (const entry of entries(bytesOf(value))) {
        if (entry.number === 1) apiVersion = textOf(entry.value)
        if (entry.number === 2) kind = textOf(entry.value)
      }
    } else if (number === 2) raw = bytesOf(value)
  }
  return { apiVersion, kind, raw }
}

export function decodeMessage(type: StructType, message: Uint8Array): JsonObject {
  const object: JsonObject = {}
  readInto(object, layoutOf(type), message)
  return object
}

/** Fields by number. A number can also refer to an embedded struct that JSON does not show. */
interface Layout {
  readonly fields: Map<number, Field>
  readonly embedded: Map<number, Layout>
}

const layouts = new Map<string, Layout>()

function layoutOf(type: StructType): Layout {
  let layout = layouts.get(type.name)
  if (!layout) {
    layout = { fields: new Map(), embedded: new Map() }
    layouts.set(type.name, layout)
    for (const field of type.fields.values()) place(layout, field, field.wire)
  }
  return layout
}

function place(layout: Layout, field: Field, [number, ...rest]: readonly number[]): void {
  if (number === undefined) return
  if (rest.length === 0) {
    layout.fields.set(number, field)
    return
  }
  let inner = layout.embedded.get(number)
  if (!inner) {
    inner = { fields: new Map(), embedded: new Map() }
    layout.embedded.set(number, inner)
  }
  place(inner, field, rest)
}

function readInto(object: JsonObject, layout: Layout, message: Uint8Array): void {
  for (const { number, value } of entries(message)) {
    const embedded = layout.embedded.get(number)
    if (embedded) readInto(object, embedded, bytesOf(value))
    const field = layout.fields.get(number)
    if (field) addField(object, field, value)
  }
}

function addField(object: JsonObject, { name, type }: Field, value: WireValue): void {
  if (type.kind === 'list') {
    object[name] ??= []
    const list = object[name] as unknown[]
    list.push(readValue(type.of, value))
  } else if (type.kind === 'map') {
    object[name] ??= {}
    const map = object[name] as JsonObject
    const [key, item] = readMapEntry(type.of, bytesOf(value))
    map[key] = item
  } else {
    object[name] = readValue(type, value)
  }
}

function readMapEntry(type: FieldType, message: Uint8Array): [key: string, value: unknown] {
  let key = ''
  let item: WireValue = new Uint8Array()
  for (const { number, value } of entries(message)) {
    if (number === 1) key = textOf(value)
    else item = value
  }
  return [key, readValue(type, item)]
}

function readValue(type: FieldType, value: WireValue): unknown {
  switch (type.kind) {
    case 'struct':
      return decodeMessage(type.struct, bytesOf(value))
    case 'scalar':
      return readScalar(type.scalar, value)
    // Protobuf encodes a list inside a list or map as a message with one repeated field.
    case 'list':
      return [...entries(bytesOf(value))].map(entry => readValue(type.of, entry.value))
    case 'map':
      return Object.fromEntries(
        [...entries(bytesOf(value))].map(entry => readMapEntry(type.of, bytesOf(entry.value))),
      )
  }
}

function readScalar(type: Scalar, value: WireValue): unknown {
  switch (type) {
    case 'string':
      return textOf(value)
    case 'bool':
      return value !== 0n
    case 'int32':
    case 'int64':
      return Number(BigInt.asIntN(64, value as bigint))
    case 'float64':
      return Buffer.from(bytesOf(value)).readDoubleLE()
    case 'bytes':
      return Buffer.from(bytesOf(value)).toString('base64')
    case 'quantity':
      return textOf(firstOf(value, 1) ?? new Uint8Array())
    case 'intOrString':
      return firstOf(value, 1) === 1n
        ? textOf(firstOf(value, 3) ?? new Uint8Array())
        : Number(BigInt.asIntN(64, (firstOf(value, 2) as bigint | undefined) ?? 0n))
    case 'time':
    case 'microTime':
      return readTime(value)
    case 'any': {
      const raw = firstOf(value, 1)
      return raw === undefined ? null : JSON.parse(textOf(raw))
    }
  }
}

function readTime(value: WireValue): string | null {
  const seconds = Number(BigInt.asIntN(64, (firstOf(value, 1) as bigint | undefined) ?? 0n))
  const nanoseconds = Number((firstOf(value, 2) as bigint | undefined) ?? 0n)
  if (bytesOf(value).length === 0) return null
  return new Date(seconds * 1000).toISOString().replace('.000Z', `.${String(nanoseconds).padStart(9, '0')}Z`)
}

function firstOf(value: WireValue, wanted: number): WireValue | undefined {
  for (const { number, value: found } of entries(bytesOf(value))) if (number === wanted) return found
  return undefined
}

/** A number, or the bytes of any other value. */
type WireValue = bigint | Uint8Array

function bytesOf(value: WireValue): Uint8Array {
  if (typeof value === 'bigint') throw new ProtobufError('unexpected number in protobuf message')
  return value
}

function textOf(value: WireValue): string {
  return Buffer.from(bytesOf(value)).toString('utf8')
}

function* entries(message: Uint8Array): Generator<{ number: number; value: WireValue }> {
  let position = 0
  const varint = (): bigint => {
    let result = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[position++]
      if (byte === undefined) throw new ProtobufError('unexpected EOF')
      result |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return result
    }
    throw new ProtobufError('proto: integer overflow')
  }
  const take = (length: number): Uint8Array => {
    if (position + length > message.length) throw new ProtobufError('unexpected EOF')
    position += length
    return message.subarray(position - length, position)
  }
  while (position < message.length) {
    const tag = Number(varint())
    const number = tag >>> 3
    switch (tag & 7) {
      case 0:
        yield { number, value: varint() }
        break
      case 1:
        yield { number, value: take(8) }
        break
      case 2:
        yield { number, value: take(Number(varint())) }
        break
      case 5:
        yield { number, value: take(4) }
        break
      default:
        throw new ProtobufError(`proto: illegal wireType ${tag & 7}`)
    }
  }
}
