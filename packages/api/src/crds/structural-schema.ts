// SPDX-License-Identifier: Apache-2.0

import type { ValidationRule as AnyValidationRule, JSONSchemaProps } from '@grove/apimachinery'

/** The schema language of CRDs, narrowed to the words that ours use. */
export interface StructuralSchema extends JSONSchemaProps {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  readonly format?: 'int32' | 'int64' | 'date-time' | 'byte'
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, StructuralSchema>>
  readonly additionalProperties?: StructuralSchema
  readonly items?: StructuralSchema
  /** Only ever the two branches of an int-or-string. */
  readonly anyOf?: readonly { readonly type: 'integer' | 'string' }[]
  readonly 'x-kubernetes-int-or-string'?: true
  readonly 'x-kubernetes-preserve-unknown-fields'?: true
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'map' | 'set'
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular'
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[]
}

/** A CEL expression that must hold. */
export interface ValidationRule extends AnyValidationRule {
  readonly message: string
  readonly reason?: 'FieldValueRequired' | 'FieldValueForbidden' | 'FieldValueInvalid' | 'FieldValueDuplicate'
  /** Which field the refusal names; relative to the schema that holds the rule. */
  readonly fieldPath?: string
  /** The rule may speak of `oldSelf` and is evaluated on create too, where `oldSelf` has no value. */
  readonly optionalOldSelf?: true
}
