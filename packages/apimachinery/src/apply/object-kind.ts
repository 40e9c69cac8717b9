// SPDX-License-Identifier: Apache-2.0

import type { JsonObject } from '../json-value.ts'
import type { FieldType } from './field-type.ts'
import type { FieldFilter } from './update-owners.ts'

/** The properties of one version and subresource of a kind that field ownership needs. */
export interface OwnedKind {
  readonly apiVersion: string
  readonly kind: string
  readonly type: FieldType
  /**
   * The object before its creation. Fields of built-in kinds that are always present have no owner while they
   * equal this object; `emptyObject` builds it. Custom kinds have only apiVersion and kind.
   */
  readonly empty: JsonObject
  /**
   * Removes the fields that this subresource does not change, such as the status. Absent if it may change
   * all.
   */
  readonly filter?: FieldFilter | undefined
  /** Empty for the main resource. */
  readonly subresource: string
}
