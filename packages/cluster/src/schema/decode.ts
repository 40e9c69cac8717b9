// SPDX-License-Identifier: Apache-2.0

import {
  formatQuantity,
  isJsonObject,
  type JsonObject,
  QuantityError,
  readQuantity,
  setOwn,
} from '@grove/apimachinery'
import type { ObjectOf } from '../object.ts'
import { type Field, type FieldType, goTypeName, type Scalar, type StructType } from './type-table.ts'

/** A value does not fit its type. The message is the message of Go's decoder. */
export class DecodeError extends Error {}

export interface Decoded {
  readonly object: JsonObject
  /** Paths of fields that the type does not have, sorted as in Kubernetes. */
  readonly unknownFields: readonly string[]
}

/**
 * Decodes a JSON value into a Go struct and encodes it again. Unknown fields are dropped, and empty fields
 * with `omitempty` too. Structs that are not pointers appear even if no field is set. Quantities and times
 * get their canonical form. The result shares no mutable value with the input.
 */
export function decodeStruct(type: StructType, value: unknown): Decoded {
  const unknownFields: string[] = []
  const walk = new Walk(unknownFields)
  if (!isJsonObject(value))
    throw new DecodeError(`json: cannot unmarshal ${jsonKind(value)} into Go value of type ${type.goName}`)
  const object = walk.struct(type, value, '', '')
  return { object, unknownFields: unknownFields.sort() }
}

/**
 * `decodeStruct` for a kind. The result has type T if T was generated from `type`. Metadata is always
 * present.
 */
export function decodeAs<T>(
  type: StructType,
  value: unknown,
): { readonly object: ObjectOf<T>; readonly unknownFields: readonly string[] } {
  const { object, unknownFields } = decodeStruct(type, value)
  return { object: object as object as ObjectOf<T>, unknownFields }
}

class Walk {
  readonly #unknown: string[]

  constructor(unknown: string[]) {
    this.#unknown = unknown
  }

  /** `names` is the path without indexes, as in Go's messages. `path` has the indexes. */
  struct(type: StructType, value: JsonObject, path: string, names: string): JsonObject {
    const out: JsonObject = {}
    let known = 0
    for (const field of type.fields.values()) {
      const raw = Object.hasOwn(value, field.name) ? value[field.name] : undefined
      if (raw !== undefined) known++
      const decoded =
        raw === undefined || raw === null ? absent(field) : this.#present(type, field, raw, path, names)
      if (decoded !== undefined) out[field.name] = decoded
    }
    if (known < Object.keys(value).length)
      for (const key of Object.keys(value))
        if (!type.fields.has(key)) this.#unknown.push(path ? `${path}.${key}` : key)
    return out
  }

  #present(owner: StructType, field: Field, raw: unknown, path: string, names: string): unknown {
    const at = path ? `${path}.${field.name}` : field.name
    const named = names ? `${names}.${field.name}` : field.name
    const decoded = this.#value(field.type, raw, at, named, owner)
    if (field.pointer) return decoded
    if (field.omitEmpty) return isEmpty(field.type, decoded) ? undefined : decoded
    // Go stores an empty list as null.
    return field.type.kind === 'list' && isEmpty(field.type, decoded) ? null : decoded
  }

  #value(type: FieldType, raw: unknown, path: string, names: string, owner: StructType): unknown {
    switch (type.kind) {
      case 'scalar':
        return scalar(type.scalar, raw, () => mismatch(raw, type, owner, names))
      case 'struct':
        if (raw === null) return this.struct(type.struct, {}, path, names)
        if (!isJsonObject(raw)) throw mismatch(raw, type, owner, names)
        return this.struct(type.struct, raw, path, names)
      case 'list':
        if (!Array.isArray(raw)) throw mismatch(raw, type, owner, names)
        return raw.map((item, index) =>
          this.#value(type.of, item ?? zeroInput(type.of), `${path}[${index}]`, names, owner),
        )
      case 'map': {
        if (!isJsonObject(raw)) throw mismatch(raw, type, owner, names)
        const out: JsonObject = {}
        for (const key of Object.keys(raw))
          setOwn(
            out,
            key,
            this.#value(type.of, raw[key] ?? zeroInput(type.of), `${path}.${key}`, names, owner),
          )
        return out
      }
    }
  }
}

/** Returns the JSON value of a field that is not set. */
function absent(field: Field): unknown {
  if (field.pointer) return field.omitEmpty ? undefined : null
  if (field.type.kind === 'struct') return field.omitZero ? undefined : emptyStruct(field.type.struct)
  if (field.omitZero) return undefined
  // Times are structs in Go, and structs are never empty.
  if (field.type.kind === 'scalar' && isTime(field.type.scalar)) return null
  if (field.omitEmpty) return undefined
  return field.type.kind === 'scalar' ? zeroScalars[field.type.scalar] : null
}

function isTime(scalar: Scalar): boolean {
  return scalar === 'time' || scalar === 'microTime'
}

/** Returns the JSON of a struct without any field set. */
export function emptyStruct(type: StructType): JsonObject {
  const out: JsonObject = {}
  for (const field of type.fields.values()) {
    const value = absent(field)
    if (value !== undefined) out[field.name] = value
  }
  return out
}

const zeroScalars: Record<Scalar, unknown> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  float64: 0,
  quantity: '0',
  intOrString: 0,
  time: null,
  microTime: null,
  bytes: null,
  any: null,
}

/** Go decodes null inside a list or map as the zero value of its type. */
function zeroInput(type: FieldType): unknown {
  if (type.kind === 'scalar') return zeroScalars[type.scalar]
  return type.kind === 'list' ? [] : {}
}

function isEmpty(type: FieldType, value: unknown): boolean {
  switch (type.kind) {
    case 'struct':
      return false
    case 'list':
      return (value as unknown[]).length === 0
    case 'map':
      return Object.keys(value as object).length === 0
    case 'scalar':
      // These are structs in Go, which `omitempty` never drops.
      if (type.scalar === 'quantity' || type.scalar === 'intOrString' || type.scalar === 'any') return false
      return value === '' || value === 0 || value === false || value === null
  }
}

function scalar(type: Scalar, raw: unknown, apiError: () => DecodeError): unknown {
  switch (type) {
    case 'string':
      if (typeof raw !== 'string') throw apiError()
      return raw
    case 'bool':
      if (typeof raw !== 'boolean') throw apiError()
      return raw
    case 'int32':
    case 'int64':
      if (typeof raw !== 'number' || !Number.isInteger(raw)) throw apiError()
      if (type === 'int32' && (raw > 2147483647 || raw < -2147483648)) throw apiError()
      return raw
    case 'float64':
      if (typeof raw !== 'number') throw apiError()
      return raw
    case 'quantity':
      return quantity(raw)
    case 'intOrString':
      if (typeof raw !== 'string' && typeof raw !== 'number') throw apiError()
      return raw
    case 'time':
    case 'microTime':
      return time(type, raw, apiError)
    case 'bytes':
      return bytes(raw, apiError)
    case 'any':
      return structuredClone(raw)
  }
}

function quantity(raw: unknown): string {
  const read = readQuantity(raw)
  if (read instanceof QuantityError) throw new DecodeError(read.message)
  return formatQuantity(read)
}

const microTime = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{6,})?/
const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

function time(type: 'time' | 'microTime', raw: unknown, apiError: () => DecodeError): string | null {
  if (raw === null) return null
  if (typeof raw !== 'string') throw apiError()
  const milliseconds = rfc3339.test(raw) ? Date.parse(raw) : Number.NaN
  const layout = type === 'time' ? '2006-01-02T15:04:05Z07:00' : '2006-01-02T15:04:05.000000Z07:00'
  if (Number.isNaN(milliseconds))
    throw new DecodeError(`parsing time "${raw}" as "${layout}": cannot parse "${raw}" as "2006"`)
  const seconds = new Date(milliseconds).toISOString().slice(0, 19)
  if (type === 'time') return `${seconds}Z`
  const [whole, fraction] = microTime.exec(raw) ?? []
  if (!fraction)
    throw new DecodeError(
      `parsing time "${raw}" as "${layout}": cannot parse "${raw.slice(whole?.length)}" as ".000000"`,
    )
  return `${seconds}${fraction.slice(0, 7)}Z`
}

const base64Pattern = /^[A-Za-z0-9+/]*={0,2}$/

function bytes(raw: unknown, apiError: () => DecodeError): string {
  if (typeof raw !== 'string') throw apiError()
  const text = raw.replace(/[\r\n]/g, '')
  if (!base64Pattern.test(text) || text.length % 4 !== 0) {
    const wrong = text.search(/[^A-Za-z0-9+/]/)
    throw new DecodeError(
      `illegal base64 data at input byte ${wrong < 0 ? Math.floor(text.length / 4) * 4 : wrong}`,
    )
  }
  return text
}

function mismatch(raw: unknown, type: FieldType, owner: StructType, names: string): DecodeError {
  const owned = owner.goName.split('.')[1]
  // Go names the element of a list or map that did not fit.
  return new DecodeError(
    `json: cannot unmarshal ${jsonKind(raw, type)} into Go struct field ${owned}.${names} of type ${goTypeName(type)}`,
  )
}

function jsonKind(value: unknown, type?: FieldType): string {
  if (Array.isArray(value)) return 'array'
  if (value === null) return 'null'
  if (typeof value === 'number') {
    const wantsInteger = type?.kind === 'scalar' && (type.scalar === 'int32' || type.scalar === 'int64')
    return wantsInteger ? `number ${value}` : 'number'
  }
  if (typeof value === 'boolean') return 'bool'
  return typeof value
}
