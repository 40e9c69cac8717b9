// SPDX-License-Identifier: Apache-2.0

// The Go types of a pod template as a graph. The legacy hash prints values by it. The canonical form reads which fields
// are pointers, because only pointers distinguish an explicit zero from an absent value.
import { legacyTypes } from './legacy-types.generated.ts'

export type GoType = GoScalar | GoPointer | GoList | GoMap | GoStruct | GoQuantity | GoIntOrString

interface Named {
  /** As Go prints it: with only the last element of the package path. */
  readonly name: string
}

export interface GoScalar extends Named {
  readonly kind: 'scalar'
  readonly zero: '' | 0 | false
}

export interface GoPointer extends Named {
  readonly kind: 'pointer'
  readonly element: GoType
}

export interface GoList extends Named {
  readonly kind: 'list'
  readonly element: GoType
}

export interface GoMap extends Named {
  readonly kind: 'map'
  readonly element: GoType
}

export interface GoStruct extends Named {
  readonly kind: 'struct'
  readonly fields: readonly GoField[]
}

export interface GoQuantity extends Named {
  readonly kind: 'quantity'
}

export interface GoIntOrString extends Named {
  readonly kind: 'intOrString'
}

export interface GoField {
  readonly goName: string
  /** Name in JSON. `+`: inlined into the parent object. `-`: not in JSON. */
  readonly jsonName: string
  readonly type: GoType
}

const known = new Map<string, GoType>()

/** The type of that name. Throws if no pod template contains it. */
export function goType(name: string): GoType {
  let type = known.get(name)
  if (!type) {
    type = build(name)
    known.set(name, type)
  }
  return type
}

/** The fields of a struct as in JSON, including those of embedded structs, each with its declaring type. */
export function jsonFields(type: GoStruct): [owner: string, field: GoField][] {
  return type.fields.flatMap((field): [string, GoField][] => {
    if (field.jsonName === '-') return []
    if (field.jsonName === '+' && field.type.kind === 'struct') return jsonFields(field.type)
    return [[type.name, field]]
  })
}

// Built on demand, children before parents: the types of a pod template are not recursive.
function build(name: string): GoType {
  if (name.startsWith('*')) {
    // It is always nil, so its own fields are never printed.
    const element = name === '*time.Location' ? goType('int64') : goType(name.slice(1))
    return { kind: 'pointer', name, element }
  }
  if (name === 'resource.Quantity') return { kind: 'quantity', name }
  if (name === 'intstr.IntOrString') return { kind: 'intOrString', name }
  const definition = legacyTypes[name] ?? `=${name}`
  if (definition.startsWith('=')) return buildUnnamed(name, definition.slice(1))
  const fields = definition.split(',').map(field => {
    const [goName, jsonName, type] = field.split(' ') as [string, string, string]
    return { goName, jsonName, type: goType(type) }
  })
  return { kind: 'struct', name, fields }
}

function buildUnnamed(name: string, definition: string): GoType {
  if (definition.startsWith('[]')) return { kind: 'list', name, element: goType(definition.slice(2)) }
  const map = /^map\[([^\]]+)\](.+)$/.exec(definition)
  if (map) return { kind: 'map', name, element: goType(map[2]!) }
  if (definition === 'string') return { kind: 'scalar', name, zero: '' }
  if (definition === 'bool') return { kind: 'scalar', name, zero: false }
  if (/^u?int(8|32|64)$/.test(definition)) return { kind: 'scalar', name, zero: 0 }
  throw new Error(`no Go type ${name}`)
}
