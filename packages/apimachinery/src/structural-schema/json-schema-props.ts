// SPDX-License-Identifier: Apache-2.0

/**
 * The schema language of CustomResourceDefinitions (`apiextensions.k8s.io/v1`), limited to structural
 * schemas. Documentation keywords (`title`, `example` …) are accepted and ignored.
 */
export interface JSONSchemaProps {
  readonly description?: string
  readonly type?: string
  readonly format?: string
  readonly nullable?: boolean
  readonly default?: unknown
  readonly enum?: readonly unknown[]

  readonly properties?: Readonly<Record<string, JSONSchemaProps>>
  readonly additionalProperties?: JSONSchemaProps | boolean
  readonly required?: readonly string[]
  readonly minProperties?: number
  readonly maxProperties?: number

  readonly items?: JSONSchemaProps
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean

  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number

  readonly minimum?: number
  readonly exclusiveMinimum?: boolean
  readonly maximum?: number
  readonly exclusiveMaximum?: boolean
  readonly multipleOf?: number

  readonly allOf?: readonly JSONSchemaProps[]
  readonly anyOf?: readonly JSONSchemaProps[]
  readonly oneOf?: readonly JSONSchemaProps[]
  readonly not?: JSONSchemaProps

  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: string
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[]
}

/** One CEL rule of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
  readonly fieldPath?: string
  readonly optionalOldSelf?: boolean
}
