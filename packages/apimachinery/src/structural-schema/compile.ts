// SPDX-License-Identifier: Apache-2.0
import { compileRules } from '../cel/compile-rules.ts'
import { formatCheck, supportedFormat } from './formats.ts'
import type { JSONSchemaProps } from './json-schema-props.ts'
import { type GoRegExp, goRegExp } from './pattern.ts'
import type { JsonType, NumberRules, SchemaNode, StringRules } from './schema-node.ts'

/** A compiled schema. Compile once and pass it to prune, applyDefaults and validate. */
export interface CompiledSchema {
  readonly root: SchemaNode
}

/**
 * Compiles a structural schema whose root is a Kubernetes object. A rule that does not compile fails during
 * validation.
 */
export function compileSchema(schema: JSONSchemaProps): CompiledSchema {
  return { root: compileNode(schema, new Map()) }
}

/** The expressions of a schema by their source. Pod specs repeat a few of them many times. */
type Expressions = Map<string, GoRegExp>

function compileNode(schema: JSONSchemaProps, expressions: Expressions): SchemaNode {
  const compile = (part: JSONSchemaProps) => compileNode(part, expressions)
  const types = typesOf(schema)
  const format = supportedFormat(types, schema.format)
  const properties = new Map<string, SchemaNode>()
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    properties.set(name, compile(property))
  }
  const additional =
    typeof schema.additionalProperties === 'object'
      ? compile(schema.additionalProperties)
      : schema.additionalProperties
  const items = schema.items && compile(schema.items)
  const allOf = (schema.allOf ?? []).map(compile)
  const rules = compileRules(schema)
  const listType = schema['x-kubernetes-list-type']
  const embeddedResource = schema['x-kubernetes-embedded-resource'] ?? false

  const below = [...properties.values()]
  if (typeof additional === 'object') below.push(additional)
  if (items) below.push(items)
  const holds = {
    keyedLists: listType === 'map' || listType === 'set' || below.some(node => node.holds.keyedLists),
    rules: rules.length > 0 || [...below, ...allOf].some(node => node.holds.rules),
    embeddedResources: embeddedResource || below.some(node => node.holds.embeddedResources),
  }

  return {
    types,
    nullable: schema.nullable ?? false,
    format,
    formatCheck: format === undefined ? undefined : formatCheck(format),
    default: schema.default ?? undefined,
    enum: schema.enum && schema.enum.length > 0 ? schema.enum : undefined,
    properties,
    additional,
    required: schema.required ?? [],
    minProperties: schema.minProperties,
    maxProperties: schema.maxProperties,
    items,
    minItems: schema.minItems,
    maxItems: schema.maxItems,
    uniqueItems: schema.uniqueItems ?? false,
    string: stringRules(schema, expressions),
    number: numberRules(schema),
    hasAlternatives: Boolean(
      schema.allOf?.length || schema.anyOf?.length || schema.oneOf?.length || schema.not,
    ),
    allOf,
    anyOf: (schema.anyOf ?? []).map(compile),
    oneOf: (schema.oneOf ?? []).map(compile),
    not: schema.not && compile(schema.not),
    preserveUnknownFields: schema['x-kubernetes-preserve-unknown-fields'] ?? false,
    embeddedResource,
    listType,
    listMapKeys: schema['x-kubernetes-list-map-keys'] ?? [],
    rules,
    holds,
  }
}

function typesOf(schema: JSONSchemaProps): readonly JsonType[] {
  if (schema['x-kubernetes-int-or-string']) return ['integer', 'string']
  return schema.type === undefined || schema.type === '' ? [] : [schema.type as JsonType]
}

function stringRules(schema: JSONSchemaProps, expressions: Expressions): StringRules | undefined {
  const { minLength, maxLength, pattern } = schema
  if (minLength === undefined && maxLength === undefined && !pattern) return undefined
  return {
    minLength,
    maxLength,
    pattern: pattern ? { source: pattern, expression: expressionOf(pattern, expressions) } : undefined,
  }
}

function expressionOf(source: string, expressions: Expressions): GoRegExp {
  const known = expressions.get(source)
  if (known) return known
  const expression = goRegExp(source)
  expressions.set(source, expression)
  return expression
}

function numberRules(schema: JSONSchemaProps): NumberRules | undefined {
  const { minimum, maximum, multipleOf } = schema
  if (minimum === undefined && maximum === undefined && multipleOf === undefined) return undefined
  return {
    minimum,
    exclusiveMinimum: schema.exclusiveMinimum ?? false,
    maximum,
    exclusiveMaximum: schema.exclusiveMaximum ?? false,
    multipleOf,
  }
}
