// SPDX-License-Identifier: Apache-2.0

import type { JSONSchemaProps } from '../structural-schema/json-schema-props.ts'
import {
  deduced,
  type FieldType,
  type ListType,
  type MapType,
  type ScalarKind,
  type StructField,
  scalar,
  untypedAtomic,
} from './field-type.ts'
import { objectMetaType } from './object-meta-type.ts'

/** Returns the type of a custom kind from its structural schema. Without a schema everything is free-form. */
export function fieldTypeOfSchema(schema: JSONSchemaProps | undefined): FieldType {
  if (!schema) return deduced
  return nodeType(withObjectFields(schema), false, new Map([['metadata', { type: objectMetaType }]]))
}

const text: JSONSchemaProps = { type: 'string' }

function withObjectFields(schema: JSONSchemaProps): JSONSchemaProps {
  return { ...schema, properties: { ...schema.properties, apiVersion: text, kind: text } }
}

function nodeType(
  schema: JSONSchemaProps,
  inheritedUnknown: boolean,
  given: ReadonlyMap<string, StructField> = new Map(),
): FieldType {
  // x-kubernetes-preserve-unknown-fields also applies to everything below.
  const keepsUnknown = inheritedUnknown || schema['x-kubernetes-preserve-unknown-fields'] === true
  switch (schema.type ?? '') {
    case '':
      return {
        scalar: 'untyped',
        list: listType(schema, keepsUnknown),
        map: mapType(schema, keepsUnknown, given),
      }
    case 'object':
      return { map: mapType(schema, keepsUnknown, given) }
    case 'array':
      return { list: listType(schema, keepsUnknown) }
    default:
      return scalar(scalarKind(schema.type, schema.format))
  }
}

/** Returns the scalar kind of an OpenAPI type and format. */
export function scalarKind(type: string | undefined, format: string | undefined): ScalarKind {
  if (type === 'integer' || type === 'number') return 'numeric'
  if (type === 'boolean') return 'boolean'
  return type === 'string' && (!format || format === 'byte') ? 'string' : 'untyped'
}

function mapType(
  schema: JSONSchemaProps,
  keepsUnknown: boolean,
  given: ReadonlyMap<string, StructField>,
): MapType {
  const embedded = schema['x-kubernetes-embedded-resource'] === true
  const properties = Object.entries((embedded ? withObjectFields(schema) : schema).properties ?? {})
  const fields = new Map<string, StructField>()
  for (const [name, property] of properties)
    fields.set(name, { type: nodeType(property, keepsUnknown), default: property.default })
  for (const [name, field] of given) fields.set(name, field)
  if (embedded) fields.set('metadata', { type: objectMetaType })
  return {
    atomic: schema['x-kubernetes-map-type'] === 'atomic',
    fields,
    element: additionalType(schema, keepsUnknown, fields.size),
  }
}

function additionalType(
  schema: JSONSchemaProps,
  keepsUnknown: boolean,
  declared: number,
): FieldType | undefined {
  const { additionalProperties } = schema
  if (additionalProperties === undefined) return keepsUnknown || declared === 0 ? deduced : undefined
  if (typeof additionalProperties === 'object') return nodeType(additionalProperties, keepsUnknown)
  return additionalProperties ? deduced : undefined
}

function listType(schema: JSONSchemaProps, keepsUnknown: boolean): ListType {
  const element = schema.items ? nodeType(schema.items, keepsUnknown) : untypedAtomic
  const declared = schema['x-kubernetes-list-type']
  if (declared === 'map')
    return { relation: 'map', keys: schema['x-kubernetes-list-map-keys'] ?? [], element }
  return { relation: declared === 'set' ? 'set' : 'atomic', keys: [], element }
}
