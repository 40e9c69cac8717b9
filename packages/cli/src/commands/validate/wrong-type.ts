// SPDX-License-Identifier: Apache-2.0

// Explains unknown fields whose ancestor has the wrong type. The API server ignores the type while it looks for unknown
// fields, so a list without dashes is reported as one unknown field for each of its keys.
import { type GroveKind, type StructuralSchema, schemaOf } from '@grove/api'
import { firstIndex, firstKey } from '../../manifests/field-path.ts'
import { isObject } from '../../manifests/manifest-value.ts'
import type { Finding } from './findings.ts'

/** Returns undefined if the ancestors of the field have the types of the schema. */
export function wrongAncestor(kind: GroveKind, field: string, object: unknown): Finding | undefined {
  let schema: StructuralSchema | undefined = schemaOf(kind)
  let value = object
  for (let rest = field; schema !== undefined && rest !== ''; ) {
    const at = field.slice(0, field.length - rest.length).replace(/\.$/, '')
    const isList = Array.isArray(value)
    if (!isList && !isObject(value)) return undefined
    if (schema.type !== undefined && schema.type !== (isList ? 'array' : 'object'))
      return {
        text: `${at}: must be ${nameOfType(schema.type)}, not ${isList ? 'a list' : 'an object'}`,
        at,
        ...(schema.type === 'array' && { advice: 'start each item with "- "' }),
      }
    if (Array.isArray(value)) {
      const step = firstIndex(rest)
      if (!step) return undefined
      value = value[step.index]
      schema = schema.items
      rest = step.rest
    } else if (isObject(value)) {
      const step = firstKey(Object.keys(value), rest)
      if (!step) return undefined
      value = value[step.key]
      schema = schema.properties?.[step.key] ?? schema.additionalProperties
      rest = step.rest
    }
  }
  return undefined
}

function nameOfType(type: string): string {
  if (type === 'array') return 'a list'
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`
}
