// SPDX-License-Identifier: Apache-2.0

export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: boolean | JsonSchema
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly enum?: readonly (string | null)[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly $schema?: string
}

/** Helm removes a value that the user sets to null, but keeps the null where the chart has no default for it. */
export function optionalOf(schema: JsonSchema): JsonSchema {
  return { ...schema, type: [...[schema.type ?? []].flat(), 'null'] }
}

/**
 * A number that may also be written as text: `helm --set` passes fractions as text, and so do tools that pass every
 * value as text. Limits apply to numbers only; the operator validates the result.
 */
export function numberOf(schema: JsonSchema): JsonSchema {
  return optionalOf({
    ...schema,
    type: [...[schema.type ?? []].flat(), 'string'],
    pattern: schema.type === 'integer' ? '^-?[0-9]+$' : '^-?[0-9]+([.][0-9]+)?$',
  })
}

/** An object with these properties. Others are rejected unless it is open. */
export function object(
  properties: Readonly<Record<string, JsonSchema>>,
  options: { isOpen?: boolean; description?: string; required?: readonly string[] } = {},
): JsonSchema {
  const { isOpen = false, description, required = [] } = options
  return {
    type: 'object',
    ...(description && { description }),
    properties,
    ...(required.length > 0 && { required }),
    ...(!isOpen && { additionalProperties: false }),
  }
}
