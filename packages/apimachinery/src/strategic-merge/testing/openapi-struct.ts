// SPDX-License-Identifier: Apache-2.0

// The structs of built-in kinds, from the server's OpenAPI document.
import type { GoField, GoStruct, GoType, OpenApiSchemas } from '../../apply/index.ts'
import { isJsonObject, type JsonObject } from '../../json-value.ts'

export function openApiStructs(schemas: OpenApiSchemas): (name: string) => GoStruct {
  const known = new Map<string, GoStruct>()
  const named = (name: string): GoStruct => {
    const found = known.get(name)
    if (found) return found
    const fields = new Map<string, GoField>()
    // `io.k8s.api.core.v1.PodSpec` → `core/v1.PodSpec`
    const struct: GoStruct = { name: name.replace(/^.*\.(\w+)\.(\w+)\.(\w+)$/, '$1/$2.$3'), fields }
    known.set(name, struct)
    for (const [field, schema] of Object.entries((schemas[name]?.properties ?? {}) as JsonObject))
      if (isJsonObject(schema)) fields.set(field, toField(schema))
    return struct
  }
  const toField = (schema: JsonObject): GoField => ({
    type: toType(schema),
    pointer: false,
    omitEmpty: true,
    omitZero: false,
    patchStrategies: text(schema['x-kubernetes-patch-strategy'])?.split(',') ?? [],
    patchMergeKey: text(schema['x-kubernetes-patch-merge-key']),
    listType: undefined,
    listMapKeys: [],
    structType: undefined,
  })
  const toType = (schema: JsonObject): GoType => {
    const [only] = Array.isArray(schema.allOf) ? (schema.allOf as JsonObject[]) : [schema]
    const reference = text(only?.$ref)?.split('/').pop()
    if (reference)
      return schemas[reference]?.properties ? { kind: 'struct', struct: named(reference) } : scalar
    if (schema.type === 'array') return { kind: 'list', of: toType(schema.items as JsonObject) }
    if (isJsonObject(schema.additionalProperties))
      return { kind: 'map', of: toType(schema.additionalProperties) }
    return scalar
  }
  return named
}

const scalar: GoType = { kind: 'scalar', scalar: 'string' }

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
