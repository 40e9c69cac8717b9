// SPDX-License-Identifier: Apache-2.0

import type { CompiledRule } from '../cel/compiled-rule.ts'
import type { GoRegExp } from './pattern.ts'

export type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'

export interface StringRules {
  readonly minLength: number | undefined
  readonly maxLength: number | undefined
  readonly pattern: { readonly source: string; readonly expression: GoRegExp } | undefined
}

export interface NumberRules {
  readonly minimum: number | undefined
  readonly exclusiveMinimum: boolean
  readonly maximum: number | undefined
  readonly exclusiveMaximum: boolean
  readonly multipleOf: number | undefined
}

/** One node of a compiled schema, with everything that depends only on the schema. */
export interface SchemaNode {
  /** Empty: any type. Two entries for int-or-string. */
  readonly types: readonly JsonType[]
  readonly nullable: boolean
  /** Undefined for formats that the API server does not know and ignores. */
  readonly format: string | undefined
  readonly formatCheck: ((text: string) => boolean) | undefined
  readonly default: unknown
  readonly enum: readonly unknown[] | undefined

  readonly properties: ReadonlyMap<string, SchemaNode>
  /** `true`: any members; `false`: rejected; undefined: not specified, so pruning drops them. */
  readonly additional: SchemaNode | boolean | undefined
  readonly required: readonly string[]
  readonly minProperties: number | undefined
  readonly maxProperties: number | undefined

  readonly items: SchemaNode | undefined
  readonly minItems: number | undefined
  readonly maxItems: number | undefined
  readonly uniqueItems: boolean

  readonly string: StringRules | undefined
  readonly number: NumberRules | undefined

  readonly hasAlternatives: boolean
  readonly allOf: readonly SchemaNode[]
  readonly anyOf: readonly SchemaNode[]
  readonly oneOf: readonly SchemaNode[]
  readonly not: SchemaNode | undefined

  readonly preserveUnknownFields: boolean
  readonly embeddedResource: boolean
  readonly listType: string | undefined
  readonly listMapKeys: readonly string[]
  readonly rules: readonly CompiledRule[]

  /**
   * Reports whether this node or a node below has a list of type map or set, a rule, or an embedded resource.
   */
  readonly holds: {
    readonly keyedLists: boolean
    readonly rules: boolean
    readonly embeddedResources: boolean
  }
}

/** The JSON type of a value. A number is an integer if it fits into 64 bits, as Kubernetes decodes it. */
export function jsonTypeOf(value: unknown): JsonType {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'boolean'
    case 'bigint':
      return 'integer'
    case 'number':
      return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? 'integer' : 'number'
    default:
      if (value === null || value === undefined) return 'null'
      return Array.isArray(value) ? 'array' : 'object'
  }
}
