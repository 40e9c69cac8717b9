// SPDX-License-Identifier: Apache-2.0

// What apply has to know of the Go structs of built-in kinds. A table of types that was generated from their sources
// satisfies it as it is.

export type GoType =
  | { readonly kind: 'scalar'; readonly scalar: string }
  | { readonly kind: 'list'; readonly of: GoType }
  | { readonly kind: 'map'; readonly of: GoType }
  | { readonly kind: 'struct'; readonly struct: GoStruct }

export interface GoStruct {
  /** `core/v1.PodSpec` */
  readonly name: string
  readonly fields: ReadonlyMap<string, GoField>
}

export interface GoField {
  readonly type: GoType
  readonly pointer: boolean
  readonly omitEmpty: boolean
  readonly omitZero: boolean
  readonly patchStrategies: readonly string[]
  readonly patchMergeKey: string | undefined
  readonly listType: string | undefined
  readonly listMapKeys: readonly string[]
  readonly structType: string | undefined
}
