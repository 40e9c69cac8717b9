// SPDX-License-Identifier: Apache-2.0

// The types of built-in kinds as OpenAPI schemas.
import type { Field, FieldType, Scalar, StructType } from '../schema/type-table.ts'

export type Schema = Record<string, unknown>

/** The differences between OpenAPI 2 and 3. */
export interface Dialect {
  readonly refPrefix: string
  /** A reference that may have a description next to it. */
  reference(ref: string): Schema
  /** A value of one of several types. OpenAPI 2 cannot express this. */
  either(...types: readonly [string, ...string[]]): Schema
}

export const version3: Dialect = {
  refPrefix: '#/components/schemas/',
  reference: ref => ({ allOf: [{ $ref: ref }], default: {} }),
  either: (...types) => ({ oneOf: types.map(type => ({ type })) }),
}

export const version2: Dialect = {
  refPrefix: '#/definitions/',
  reference: ref => ({ $ref: ref }),
  either: type => ({ type }),
}

/** `core/v1.Pod` → `io.k8s.api.core.v1.Pod`. */
export function schemaName(type: string): string {
  const [home = '', name = ''] = type.split('.')
  const path = home.replace('/', '.')
  if (home === 'meta/v1') return `io.k8s.apimachinery.pkg.apis.${path}.${name}`
  if (home === 'apiextensions/v1') return `io.k8s.apiextensions-apiserver.pkg.apis.${path}.${name}`
  return `io.k8s.api.${path}.${name}`
}

interface NamedScalar {
  readonly name: string
  readonly schema: Schema
  /** Several alternative types instead of one. */
  readonly types?: readonly [string, ...string[]]
}

const special: Partial<Record<Scalar, NamedScalar>> = {
  quantity: {
    name: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
    schema: {
      description: 'Quantity is a fixed-point representation of a number, such as 500m or 1.5Gi.',
    },
    types: ['string', 'number'],
  },
  intOrString: {
    name: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
    schema: {
      description: 'IntOrString is a type that can hold an int32 or a string.',
      format: 'int-or-string',
    },
    types: ['string', 'integer'],
  },
  time: {
    name: 'io.k8s.apimachinery.pkg.apis.meta.v1.Time',
    schema: {
      description: 'Time is a point in time, with a precision of seconds.',
      type: 'string',
      format: 'date-time',
    },
  },
  microTime: {
    name: 'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime',
    schema: {
      description: 'MicroTime is a point in time, with a precision of microseconds.',
      type: 'string',
      format: 'date-time',
    },
  },
}

/** The only named schema without properties. */
const fieldsV1 = {
  name: 'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1',
  schema: { description: 'FieldsV1 is a set of fields, as a trie.', type: 'object' },
}

const plain: Partial<Record<Scalar, Schema>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  float64: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
  any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
}

/** Returns the schemas of these types and of all types they use, by name. */
export function collectSchemas(types: readonly StructType[], dialect: Dialect): Map<string, Schema> {
  const schemas = new Map<string, Schema>()
  const visit = (type: StructType): void => {
    const name = schemaName(type.name)
    if (schemas.has(name)) return
    const schema: Schema = {}
    schemas.set(name, schema)
    Object.assign(schema, structSchema(type, dialect, visitType))
  }
  const visitType = (type: FieldType): void => {
    if (type.kind === 'struct') visit(type.struct)
    else if (type.kind === 'scalar') {
      const found = special[type.scalar]
      if (found)
        schemas.set(found.name, { ...found.schema, ...(found.types && dialect.either(...found.types)) })
    } else visitType(type.of)
  }
  for (const type of types) visit(type)
  schemas.set(fieldsV1.name, fieldsV1.schema)
  return schemas
}

/** The descriptions of all types would be megabytes. */
const builtInDescription =
  'A type of Kubernetes. This cluster has no descriptions of them: see https://kubernetes.io/docs/reference/kubernetes-api/'

function structSchema(type: StructType, dialect: Dialect, visit: (type: FieldType) => void): Schema {
  const properties: Record<string, Schema> = {}
  const required: string[] = []
  for (const field of type.fields.values()) {
    visit(field.type)
    properties[field.name] =
      field.name === 'fieldsV1'
        ? dialect.reference(dialect.refPrefix + fieldsV1.name)
        : fieldSchema(field, dialect)
    if (!field.omitEmpty && !field.optional) required.push(field.name)
  }
  return {
    description: builtInDescription,
    type: 'object',
    ...(required.length > 0 && { required }),
    properties,
  }
}

function fieldSchema(field: Field, dialect: Dialect): Schema {
  return {
    ...typeSchema(field.type, dialect),
    ...(field.patchStrategies.length > 0 && {
      'x-kubernetes-patch-strategy': field.patchStrategies.join(','),
    }),
    ...(field.patchMergeKey && { 'x-kubernetes-patch-merge-key': field.patchMergeKey }),
    ...(field.listType && { 'x-kubernetes-list-type': field.listType }),
    ...(field.listMapKeys.length > 0 && { 'x-kubernetes-list-map-keys': field.listMapKeys }),
    ...(field.structType && { 'x-kubernetes-map-type': field.structType }),
  }
}

function typeSchema(type: FieldType, dialect: Dialect): Schema {
  switch (type.kind) {
    case 'struct':
      return dialect.reference(dialect.refPrefix + schemaName(type.struct.name))
    case 'list':
      return { type: 'array', items: typeSchema(type.of, dialect) }
    case 'map':
      return { type: 'object', additionalProperties: typeSchema(type.of, dialect) }
    case 'scalar': {
      const found = special[type.scalar]
      return found ? dialect.reference(dialect.refPrefix + found.name) : (plain[type.scalar] ?? {})
    }
  }
}
