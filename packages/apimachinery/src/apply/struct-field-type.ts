// SPDX-License-Identifier: Apache-2.0

import {
  deduced,
  type FieldType,
  type ListType,
  type ScalarKind,
  type StructField,
  scalar,
  untypedAtomic,
} from './field-type.ts'
import { atomicStructs, keyDefaults } from './struct-markers.ts'
import type { GoField, GoStruct, GoType } from './struct-type.ts'

const known = new WeakMap<GoStruct, FieldType>()

/** Returns the field type of a Go struct. The same struct always gives the same type. */
export function fieldTypeOfStruct(struct: GoStruct): FieldType {
  const found = known.get(struct)
  if (found) return found
  const fields = new Map<string, StructField>()
  const type: FieldType = {
    map: {
      atomic: atomicStructs.has(struct.name),
      fields,
      element: struct.fields.size === 0 ? deduced : undefined,
    },
  }
  // Registered before its fields, because some structs are recursive.
  known.set(struct, type)
  for (const [name, field] of struct.fields)
    fields.set(name, {
      type: fieldType(field, `${struct.name}.${name}`),
      default: defaultOf(struct, name, field),
    })
  return type
}

/** Fields that are not pointers and are always encoded default to their zero value. */
function defaultOf(struct: GoStruct, name: string, field: GoField): unknown {
  const declared = keyDefaults.get(`${struct.name}.${name}`)
  if (declared !== undefined) return declared
  if (field.pointer || field.omitEmpty || field.omitZero || field.type.kind !== 'scalar') return undefined
  return zeroOfScalar[field.type.scalar]
}

const zeroOfScalar: Readonly<Record<string, unknown>> = {
  string: '',
  int32: 0,
  int64: 0,
  float64: 0,
  bool: false,
}

function fieldType(field: GoField, path: string): FieldType {
  const atomic = field.structType === 'atomic'
  if (field.type.kind === 'list') return { list: listType(field, field.type.of, path) }
  const type = goType(field.type, path)
  return atomic && type.map && !type.map.atomic ? { ...type, map: { ...type.map, atomic: true } } : type
}

function goType(type: GoType, path: string): FieldType {
  switch (type.kind) {
    case 'struct':
      return fieldTypeOfStruct(type.struct)
    case 'map':
      return { map: { atomic: false, fields: new Map(), element: goType(type.of, path) } }
    case 'list':
      return { list: { relation: 'atomic', keys: [], element: goType(type.of, path) } }
    case 'scalar':
      if (type.scalar === 'any') return freeForm(path)
      // Has no declared type, because it allows two.
      return type.scalar === 'intOrString' ? deduced : scalar(scalarKinds[type.scalar] ?? 'untyped')
  }
}

const scalarKinds: Readonly<Record<string, ScalarKind>> = {
  string: 'string',
  bytes: 'string',
  bool: 'boolean',
  int32: 'numeric',
  int64: 'numeric',
  float64: 'numeric',
}

/** Raw objects are atomic. The free-form parts of CustomResourceDefinitions and of metadata are not. */
function freeForm(path: string): FieldType {
  return path.startsWith('apiextensions/') || path.startsWith('meta/') ? deduced : untypedAtomic
}

function listType(field: GoField, of: GoType, path: string): ListType {
  const element = goType(of, path)
  if (field.listType === 'map') return { relation: 'map', keys: field.listMapKeys, element }
  if (field.listType === 'set') return { relation: 'set', keys: [], element }
  if (field.listType === undefined && field.patchStrategies.includes('merge'))
    return field.patchMergeKey
      ? { relation: 'map', keys: [field.patchMergeKey], element }
      : { relation: 'set', keys: [], element }
  return { relation: 'atomic', keys: [], element }
}
