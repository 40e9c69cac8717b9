// SPDX-License-Identifier: Apache-2.0

// The part of Go structs that server-side apply needs. A type table generated from the Go sources satisfies
// it.

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
