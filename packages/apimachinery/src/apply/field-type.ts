// SPDX-License-Identifier: Apache-2.0

/**
 * How the values of a field belong together. A type may allow several shapes (free-form data allows all three); the
 * value decides which one counts.
 */
export interface FieldType {
  readonly scalar?: ScalarKind | undefined
  readonly list?: ListType | undefined
  readonly map?: MapType | undefined
}

export type ScalarKind = 'string' | 'numeric' | 'boolean' | 'untyped'

export interface ListType {
  /** `atomic`: one value; `set`: every item for itself; `map`: items are found by their keys. */
  readonly relation: 'atomic' | 'set' | 'map'
  readonly keys: readonly string[]
  readonly element: FieldType
}

export interface MapType {
  readonly atomic: boolean
  readonly fields: ReadonlyMap<string, StructField>
  /** Of members that `fields` does not name; undefined where there may be none. */
  readonly element: FieldType | undefined
}

export interface StructField {
  readonly type: FieldType
  /** Stands for an absent key of an item of a list. */
  readonly default?: unknown
}

const noFields: ReadonlyMap<string, StructField> = new Map()

interface Mutable {
  scalar: ScalarKind
  list: { relation: 'atomic'; keys: readonly string[]; element: FieldType }
  map: { atomic: boolean; fields: ReadonlyMap<string, StructField>; element: FieldType }
}

/** Any value, as a whole. */
export const untypedAtomic: FieldType = selfContained(true)

/** Any value; objects are merged member by member, lists are replaced. */
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

/** An object with any members of one type. */
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

/** The type of a member; what the type does not name is free-form, so that no value is ever without a type. */
export function memberType(map: MapType, name: string): FieldType {
  return map.fields.get(name)?.type ?? map.element ?? deduced
}

export type Shape = 'scalar' | 'list' | 'map'

/**
 * Which of its shapes a type shows for a value. Null and values that do not fit take any; then objects come before
 * scalars and scalars before lists.
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
