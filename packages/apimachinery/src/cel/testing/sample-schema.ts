// SPDX-License-Identifier: Apache-2.0
import { type FieldError, renderFieldError } from '../../field-error.ts'
import { compileSchema } from '../../structural-schema/compile.ts'
import type { JSONSchemaProps, ValidationRule } from '../../structural-schema/json-schema-props.ts'
import { validate } from '../../structural-schema/validate.ts'

/** A schema with a property of every type. */
export const sampleSchema: JSONSchemaProps = {
  type: 'object',
  properties: {
    size: { type: 'integer' },
    heat: { type: 'number' },
    name: { type: 'string' },
    namespace: { type: 'string' },
    limit: { 'x-kubernetes-int-or-string': true },
    since: { type: 'string', format: 'date-time' },
    pause: { type: 'string', format: 'duration' },
    tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    notes: { type: 'object', additionalProperties: { type: 'string' } },
    door: { type: 'object', properties: { width: { type: 'integer' } } },
    trays: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object', properties: { name: { type: 'string' }, load: { type: 'integer' } } },
    },
    shelves: { type: 'array', items: { type: 'object', properties: { load: { type: 'integer' } } } },
  },
}

export function withRule(schema: JSONSchemaProps, rule: string | ValidationRule): JSONSchemaProps {
  return { ...schema, 'x-kubernetes-validations': [typeof rule === 'string' ? { rule } : rule] }
}

/** The schema with a rule on one of its properties, or on its items. */
export function withRuleAt(property: string, rule: string | ValidationRule): JSONSchemaProps {
  const node = sampleSchema.properties![property]!
  const ruled = node.items
    ? { ...node, items: withRule(node.items, rule) }
    : typeof node.additionalProperties === 'object'
      ? { ...node, additionalProperties: withRule(node.additionalProperties, rule) }
      : withRule(node, rule)
  return { ...sampleSchema, properties: { ...sampleSchema.properties, [property]: ruled } }
}

export function validateSpec(spec: JSONSchemaProps, value: unknown, old?: unknown): FieldError[] {
  const schema = compileSchema({ type: 'object', properties: { spec } })
  return validate(schema, { spec: value }, old === undefined ? undefined : { spec: old })
}

export function errors(rule: string | ValidationRule, value: unknown, old?: unknown): string[] {
  return validateSpec(withRule(sampleSchema, rule), value, old).map(renderFieldError)
}

export function holds(rule: string | ValidationRule, value: unknown, old?: unknown): boolean {
  return errors(rule, value, old).length === 0
}
