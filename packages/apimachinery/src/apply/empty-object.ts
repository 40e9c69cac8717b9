// SPDX-License-Identifier: Apache-2.0

import type { JsonObject } from '../json-value.ts'
import type { GoField, GoStruct, GoType } from './struct-type.ts'

/** Returns the JSON of an empty built-in object, with the fields that Go always encodes. */
export function emptyObject(struct: GoStruct, apiVersion: string, kind: string): JsonObject {
  return { kind, apiVersion, ...emptyStruct(struct) }
}

function emptyStruct(struct: GoStruct): JsonObject {
  const empty: JsonObject = {}
  for (const [name, field] of struct.fields) if (isAlwaysWritten(field)) empty[name] = emptyValue(field)
  return empty
}

/** `omitempty` does not omit a struct, `omitzero` does. */
function isAlwaysWritten({ type, pointer, omitEmpty, omitZero }: GoField): boolean {
  if (omitZero) return false
  return !omitEmpty || (!pointer && writesItself(type))
}

function writesItself(type: GoType): boolean {
  return type.kind === 'struct' || (type.kind === 'scalar' && structScalars.has(type.scalar))
}

/** JSON scalars that are structs in Go. */
const structScalars: ReadonlySet<string> = new Set(['time', 'microTime', 'quantity', 'intOrString'])

function emptyValue({ type, pointer }: GoField): unknown {
  if (pointer) return null
  return type.kind === 'struct'
    ? emptyStruct(type.struct)
    : type.kind === 'scalar'
      ? (zero[type.scalar] ?? null)
      : null
}

const zero: Readonly<Record<string, unknown>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  float64: 0,
  quantity: '0',
  intOrString: 0,
}
