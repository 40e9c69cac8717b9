// SPDX-License-Identifier: Apache-2.0

import type { ValidationRule as AnyValidationRule, JSONSchemaProps } from '@grove/apimachinery'

/** The schema language of CRDs, narrowed to the keywords in use here. */
export interface StructuralSchema extends JSONSchemaProps {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  readonly format?: 'int32' | 'int64' | 'date-time' | 'byte'
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, StructuralSchema>>
  readonly additionalProperties?: StructuralSchema
  readonly items?: StructuralSchema
  /** Only the two branches of an int-or-string. */
  readonly anyOf?: readonly { readonly type: 'integer' | 'string' }[]
  readonly 'x-kubernetes-int-or-string'?: true
  readonly 'x-kubernetes-preserve-unknown-fields'?: true
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'map' | 'set'
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular'
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[]
}

/** A CEL expression that must be true. */
export interface ValidationRule extends AnyValidationRule {
  readonly message: string
  readonly reason?: 'FieldValueRequired' | 'FieldValueForbidden' | 'FieldValueInvalid' | 'FieldValueDuplicate'
  /** The field in the error, relative to the schema that has the rule. */
  readonly fieldPath?: string
  /** The rule may use `oldSelf` and also runs on create, where `oldSelf` has no value. */
  readonly optionalOldSelf?: true
}
