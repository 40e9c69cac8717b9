// SPDX-License-Identifier: Apache-2.0

/**
 * The merge behaviour of a field. A type may allow several shapes (free-form data allows all three). The
 * value determines the shape.
 */
export interface FieldType {
  readonly scalar?: ScalarKind | undefined
  readonly list?: ListType | undefined
  readonly map?: MapType | undefined
}

export type ScalarKind = 'string' | 'numeric' | 'boolean' | 'untyped'

export interface ListType {
  /** `atomic`: one value; `set`: each item separately; `map`: items identified by keys. */
  readonly relation: 'atomic' | 'set' | 'map'
  readonly keys: readonly string[]
  readonly element: FieldType
}

export interface MapType {
  readonly atomic: boolean
  readonly fields: ReadonlyMap<string, StructField>
  /** The type of undeclared members; undefined if they are not allowed. */
  readonly element: FieldType | undefined
}

export interface StructField {
  readonly type: FieldType
  /** The default of a missing key of a list item. */
  readonly default?: unknown
}

const noFields: ReadonlyMap<string, StructField> = new Map()

interface Mutable {
  scalar: ScalarKind
  list: { relation: 'atomic'; keys: readonly string[]; element: FieldType }
  map: { atomic: boolean; fields: ReadonlyMap<string, StructField>; element: FieldType }
}

/** Any value, merged as a whole. */
export const untypedAtomic: FieldType = selfContained(true)

/** Any value. Objects are merged member by member, lists are replaced. */
export const deduced: FieldType = selfContained(false)

function selfContained(atomic: boolean): FieldType {
  const type: Mutable = {
    scalar: 'untyped',
    list: { relation: 'atomic', keys: [], element: {} },
    map: { atomic, fields: noFields, element: {} },
  }
  type.map.element = type
  type.list.element = atomic ? type : untypedAtomic
  return type
}

export function scalar(kind: ScalarKind): FieldType {
  return { scalar: kind }
}

export function atomicList(element: FieldType): FieldType {
  return { list: { relation: 'atomic', keys: [], element } }
}

export function setList(element: FieldType): FieldType {
  return { list: { relation: 'set', keys: [], element } }
}

export function keyedList(keys: readonly string[], element: FieldType): FieldType {
  return { list: { relation: 'map', keys, element } }
}

/** An object whose members all have one type. */
export function mapOf(element: FieldType): FieldType {
  return { map: { atomic: false, fields: noFields, element } }
}

export function struct(types: Readonly<Record<string, FieldType>>): FieldType {
  const fields = new Map(Object.entries(types).map(([name, type]) => [name, { type }] as const))
  return { map: { atomic: false, fields, element: undefined } }
}

/** The same type, merged as a whole. */
export function asAtomic(type: FieldType): FieldType {
  if (type.map) return { ...type, map: { ...type.map, atomic: true } }
  return type.list ? { ...type, list: { ...type.list, relation: 'atomic', keys: [] } } : type
}

/** Returns the type of a member. Undeclared members are free-form, so that every value has a type. */
export function memberType(map: MapType, name: string): FieldType {
  return map.fields.get(name)?.type ?? map.element ?? deduced
}

export type Shape = 'scalar' | 'list' | 'map'

/**
 * Returns the shape of a value. Null and values of other types fit any shape. In that case the precedence is
 * object, scalar, list.
 */
export function shapeOf(type: FieldType, value: unknown): Shape {
  if (Array.isArray(value)) {
    if (type.list) return 'list'
  } else if (typeof value === 'object') {
    if (value !== null && type.map) return 'map'
  } else if (value !== undefined && type.scalar) return 'scalar'
  if (type.map) return 'map'
  return type.scalar || !type.list ? 'scalar' : 'list'
}
