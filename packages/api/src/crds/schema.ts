// SPDX-License-Identifier: Apache-2.0

// Functions that build structural schemas. The first parameter is always the description, which `kubectl explain`
// shows.
import type { StructuralSchema, ValidationRule } from './structural-schema.ts'

/** A required property of an object. */
export interface RequiredMember {
  readonly required: StructuralSchema
}

/**
 * One schema per property of the TypeScript type, required where the type requires it. The compiler keeps both in sync.
 */
export type Members<T> = {
  readonly [Key in keyof T]-?: undefined extends T[Key] ? StructuralSchema : RequiredMember
}

export function required(schema: StructuralSchema): RequiredMember {
  return { required: schema }
}

export function object<T extends object>(
  description: string,
  members: Members<T>,
  options: { readonly rules?: readonly ValidationRule[] } = {},
): StructuralSchema {
  const entries = Object.entries<StructuralSchema | RequiredMember>(members)
  const names = entries.filter(([, member]) => isRequired(member)).map(([name]) => name)
  return {
    description,
    type: 'object',
    ...(names.length > 0 && { required: names }),
    properties: Object.fromEntries(
      entries.map(([name, member]) => [name, isRequired(member) ? member.required : member]),
    ),
    ...(options.rules && { 'x-kubernetes-validations': options.rules }),
  }
}

/** An object schema also has `required`, but as a list of names. */
function isRequired(member: StructuralSchema | RequiredMember): member is RequiredMember {
  return member.required !== undefined && !Array.isArray(member.required)
}

export function string(
  description: string,
  options: Pick<StructuralSchema, 'default' | 'minLength' | 'maxLength' | 'pattern'> = {},
): StructuralSchema {
  return { description, type: 'string', ...options }
}

export function choice<Value extends string>(
  description: string,
  values: readonly Value[],
  options: { readonly default?: Value } = {},
): StructuralSchema {
  return { description, type: 'string', enum: values, ...options }
}

export function boolean(description: string, options: { readonly default?: boolean } = {}): StructuralSchema {
  return { description, type: 'boolean', ...options }
}

export function int32(
  description: string,
  options: { readonly default?: number; readonly minimum?: number } = {},
): StructuralSchema {
  return { description, type: 'integer', format: 'int32', ...options }
}

export function int64(description: string, options: { readonly minimum?: number } = {}): StructuralSchema {
  return { description, type: 'integer', format: 'int64', ...options }
}

export function number(description: string): StructuralSchema {
  return { description, type: 'number' }
}

/** RFC 3339, UTC, whole seconds. */
export function time(description: string): StructuralSchema {
  return { description, type: 'string', format: 'date-time' }
}

/** Text such as `4h` or `1m30s`. The schema accepts any text, and admission rejects a malformed one. */
export function duration(description: string): StructuralSchema {
  return { description, type: 'string' }
}

/** A list that server-side apply replaces as a whole. */
export function list(
  description: string,
  items: StructuralSchema,
  options: { readonly minItems?: number } = {},
): StructuralSchema {
  return { description, type: 'array', items, ...options }
}

/** A list whose entries are identified by some of their fields. The API server rejects duplicates. */
export function listMap(
  description: string,
  keys: readonly string[],
  items: StructuralSchema,
): StructuralSchema {
  return {
    description,
    type: 'array',
    items,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
  }
}

export function stringMap(description: string): StructuralSchema {
  return { description, type: 'object', additionalProperties: { type: 'string' } }
}

export function stringList(description: string): StructuralSchema {
  return list(description, { type: 'string' })
}

/** A schema with a description of its own for the field that uses it. */
export function described(description: string, schema: StructuralSchema): StructuralSchema {
  return { ...schema, description }
}
