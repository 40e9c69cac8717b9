// SPDX-License-Identifier: Apache-2.0

// Words to write structural schemas with. Every word takes the description first: `kubectl explain` shows it.
import type { StructuralSchema, ValidationRule } from './structural-schema.ts'

/** A member of an object that must be present. */
export interface RequiredMember {
  readonly required: StructuralSchema
}

/** One schema per member of the TypeScript type, required where the type says so: both cannot drift apart. */
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

/** An object schema has `required` too, but as a list of names. */
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

/** Text such as `4h` or `1m30s`; the schema cannot tell a wrong one, admission does. */
export function duration(description: string): StructuralSchema {
  return { description, type: 'string' }
}

/** A list that is replaced as a whole by server-side apply. */
export function list(
  description: string,
  items: StructuralSchema,
  options: { readonly minItems?: number } = {},
): StructuralSchema {
  return { description, type: 'array', items, ...options }
}

/** A list whose entries are told apart by members of theirs; the API server refuses doubles. */
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

/** Another schema with a description of its own for the place where it is used. */
export function described(description: string, schema: StructuralSchema): StructuralSchema {
  return { ...schema, description }
}
