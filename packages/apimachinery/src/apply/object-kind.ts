// SPDX-License-Identifier: Apache-2.0

import type { JsonObject } from '../json-value.ts'
import type { FieldType } from './field-type.ts'
import type { FieldFilter } from './update-owners.ts'

/** What has to be known of a kind, in one version and one way of writing it, to keep track of its owners. */
export interface OwnedKind {
  readonly apiVersion: string
  readonly kind: string
  readonly type: FieldType
  /**
   * The object before its creation. Built-in kinds have fields that are always present, and nobody comes to own those
   * that stay as they are in the empty object; `emptyObject` makes it. Custom kinds: only apiVersion and kind.
   */
  readonly empty: JsonObject
  /** What writes of this kind leave alone, such as the status; absent when they may change all. */
  readonly filter?: FieldFilter | undefined
  /** Empty for the object itself. */
  readonly subresource: string
}
