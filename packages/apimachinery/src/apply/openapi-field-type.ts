// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject } from '../json-value.ts'
import {
  asAtomic,
  deduced,
  type FieldType,
  type ListType,
  type MapType,
  type StructField,
  scalar,
  untypedAtomic,
} from './field-type.ts'
import { scalarKind } from './schema-field-type.ts'

/** The schemas of an OpenAPI v3 document, by name. */
export type OpenApiSchemas = Readonly<Record<string, JsonObject>>

const quantity = 'io.k8s.apimachinery.pkg.api.resource.Quantity'
const rawExtension = 'io.k8s.apimachinery.pkg.runtime.RawExtension'

/** Returns field types by schema name, resolved on demand. Throws on an unknown name. */
export function openApiFieldTypes(schemas: OpenApiSchemas): (name: string) => FieldType {
  const known = new Map<string, FieldType>([
    [quantity, scalar('untyped')],
    [rawExtension, untypedAtomic],
  ])
  const named = (name: string): FieldType => {
    const found = known.get(name)
    if (found) return found
    const schema = schemas[name]
    if (!schema) throw new Error(`${name} is not in the OpenAPI document`)
    // Registered before it is complete, because some types are recursive.
    const type: FieldType = {}
    known.set(name, type)
    return Object.assign(type, nodeType(schema, named))
  }
  return named
}

type Named = (name: string) => FieldType

function referenceOr(schema: JsonObject, named: Named): FieldType {
  const reference = referenceOf(schema)
  if (reference === undefined) return nodeType(schema, named)
  return schema['x-kubernetes-map-type'] === 'atomic' ? atomicReference(reference, named) : named(reference)
}

/** Resolved on first use, because the referenced type may be incomplete before. */
function atomicReference(reference: string, named: Named): FieldType {
  let type: FieldType | undefined
  const resolved = () => {
    type ??= asAtomic(named(reference))
    return type
  }
  return {
    get scalar() {
      return resolved().scalar
    },
    get list() {
      return resolved().list
    },
    get map() {
      return resolved().map
    },
  }
}

function referenceOf(schema: JsonObject): string | undefined {
  const holder =
    !schema.$ref && Array.isArray(schema.allOf) && schema.allOf.length === 1 ? schema.allOf[0] : schema
  if (!isJsonObject(holder) || typeof holder.$ref !== 'string') return undefined
  return holder.$ref.slice(holder.$ref.lastIndexOf('/') + 1)
}

function nodeType(schema: JsonObject, named: Named): FieldType {
  switch (schema.type ?? '') {
    case '':
      return { scalar: 'untyped', list: listType(schema, named), map: mapType(schema, named) }
    case 'object':
      return { map: mapType(schema, named) }
    case 'array':
      return { list: listType(schema, named) }
    default:
      return scalar(scalarKind(schema.type as string, schema.format as string | undefined))
  }
}

function mapType(schema: JsonObject, named: Named): MapType {
  const fields = new Map<string, StructField>()
  for (const [name, property] of Object.entries(isJsonObject(schema.properties) ? schema.properties : {}))
    if (isJsonObject(property))
      fields.set(name, { type: referenceOr(property, named), default: property.default })
  const { additionalProperties } = schema
  let element: FieldType | undefined
  if (isJsonObject(additionalProperties)) element = referenceOr(additionalProperties, named)
  else if (additionalProperties === true || (additionalProperties === undefined && fields.size === 0))
    element = deduced
  return { atomic: schema['x-kubernetes-map-type'] === 'atomic', fields, element }
}

function listType(schema: JsonObject, named: Named): ListType {
  const element = isJsonObject(schema.items) ? referenceOr(schema.items, named) : untypedAtomic
  const declared = schema['x-kubernetes-list-type']
  if (declared === 'map')
    return { relation: 'map', keys: schema['x-kubernetes-list-map-keys'] as string[], element }
  if (declared === 'set') return { relation: 'set', keys: [], element }
  const strategy = schema['x-kubernetes-patch-strategy']
  if (declared === undefined && (strategy === 'merge' || strategy === 'merge,retainKeys')) {
    const key = schema['x-kubernetes-patch-merge-key']
    return typeof key === 'string'
      ? { relation: 'map', keys: [key], element }
      : { relation: 'set', keys: [], element }
  }
  return { relation: 'atomic', keys: [], element }
}
