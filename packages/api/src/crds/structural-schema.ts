// SPDX-License-Identifier: Apache-2.0

/** What a CustomResourceDefinition may say about a value: the part of JSON Schema that Kubernetes calls structural. */
export interface StructuralSchema {
  readonly description?: string
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  readonly format?: 'int32' | 'int64' | 'date-time' | 'byte'
  readonly default?: unknown
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly minItems?: number
  readonly properties?: Readonly<Record<string, StructuralSchema>>
  readonly additionalProperties?: StructuralSchema
  readonly items?: StructuralSchema
  readonly required?: readonly string[]
  /** Only ever the two branches of an int-or-string. */
  readonly anyOf?: readonly { readonly type: 'integer' | 'string' }[]
  readonly 'x-kubernetes-int-or-string'?: true
  readonly 'x-kubernetes-preserve-unknown-fields'?: true
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'map' | 'set'
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular'
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[]
}

/** A CEL expression that must hold. */
export interface ValidationRule {
  readonly rule: string
  readonly message: string
  readonly reason?: 'FieldValueRequired' | 'FieldValueForbidden' | 'FieldValueInvalid' | 'FieldValueDuplicate'
  /** Which field the refusal names; relative to the schema that holds the rule. */
  readonly fieldPath?: string
  /** The rule may speak of `oldSelf` and is evaluated on create too, where `oldSelf` has no value. */
  readonly optionalOldSelf?: true
}
