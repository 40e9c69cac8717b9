// SPDX-License-Identifier: Apache-2.0

// The built-in types of Kubernetes as data. packages/cluster/generate writes the table.
import file from './types.generated.json' with { type: 'json' }

export type Scalar =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'float64'
  | 'quantity'
  | 'intOrString'
  | 'time'
  | 'microTime'
  | 'bytes'
  | 'any'

export type FieldType =
  | { readonly kind: 'scalar'; readonly scalar: Scalar }
  | { readonly kind: 'list'; readonly of: FieldType }
  | { readonly kind: 'map'; readonly of: FieldType }
  | { readonly kind: 'struct'; readonly struct: StructType }

export interface Field {
  readonly name: string
  readonly type: FieldType
  /** A pointer in Go distinguishes "absent" from "empty", so an empty value stays. */
  readonly pointer: boolean
  /** Omitted from the JSON when empty. A struct is never empty. */
  readonly omitEmpty: boolean
  readonly omitZero: boolean
  readonly optional: boolean
  /** `merge`, `replace`, `retainKeys`, or several of them. */
  readonly patchStrategies: readonly string[]
  readonly patchMergeKey: string | undefined
  readonly listType: string | undefined
  readonly listMapKeys: readonly string[]
  readonly structType: string | undefined
  /** The field number in protobuf, after the numbers of the structs that embed it. */
  readonly wire: readonly number[]
}

export interface StructType {
  /** `core/v1.PodSpec` */
  readonly name: string
  /** `v1.PodSpec`, the name in Go's messages. */
  readonly goName: string
  readonly fields: ReadonlyMap<string, Field>
}

type Row = readonly [name: string, type: string, flags: string, extras?: Record<string, string | string[]>]

const rows: Readonly<Record<string, readonly (readonly unknown[])[] | undefined>> = file
const structs = new Map<string, StructType>()

/** Returns the struct of that name. Throws if the table does not have it, which is a bug of this package. */
export function structType(name: string): StructType {
  const known = structs.get(name)
  if (known) return known
  const declared = rows[name] as readonly Row[] | undefined
  if (!declared) throw new Error(`${name} is not a known type`)
  const fields = new Map<string, Field>()
  const [home = '', type = ''] = name.split('.')
  const struct: StructType = { name, goName: `${home.split('/')[1]}.${type}`, fields }
  // Registered before its fields are resolved, because some types are recursive.
  structs.set(name, struct)
  for (const [field, text, flags, extras] of declared) fields.set(field, toField(field, text, flags, extras))
  return struct
}

function toField(name: string, type: string, flags: string, extras: Row[3]): Field {
  return {
    name,
    type: toFieldType(type),
    pointer: flags.includes('p'),
    omitEmpty: flags.includes('e'),
    omitZero: flags.includes('z'),
    optional: flags.includes('o'),
    patchStrategies: typeof extras?.patch === 'string' ? extras.patch.split(',') : [],
    patchMergeKey: typeof extras?.key === 'string' ? extras.key : undefined,
    listType: typeof extras?.list === 'string' ? extras.list : undefined,
    listMapKeys: Array.isArray(extras?.keys) ? extras.keys : [],
    structType: typeof extras?.struct === 'string' ? extras.struct : undefined,
    wire: typeof extras?.wire === 'string' ? extras.wire.split('.').map(Number) : [],
  }
}

function toFieldType(text: string): FieldType {
  if (text.startsWith('[]')) return { kind: 'list', of: toFieldType(text.slice(2)) }
  if (text.startsWith('{}')) return { kind: 'map', of: toFieldType(text.slice(2)) }
  if (text.includes('.')) return { kind: 'struct', struct: structType(text) }
  return { kind: 'scalar', scalar: text as Scalar }
}

/** Returns the Go name of the type, as in `cannot unmarshal … of type []v1.Container`. */
export function goTypeName(type: FieldType): string {
  switch (type.kind) {
    case 'scalar':
      return goScalars[type.scalar] ?? type.scalar
    case 'list':
      return `[]${goTypeName(type.of)}`
    case 'map':
      return `map[string]${goTypeName(type.of)}`
    case 'struct':
      return type.struct.goName
  }
}

const goScalars: Partial<Record<Scalar, string>> = {
  bytes: '[]uint8',
  quantity: 'resource.Quantity',
  intOrString: 'intstr.IntOrString',
  time: 'v1.Time',
  microTime: 'v1.MicroTime',
  any: 'interface {}',
}
