// SPDX-License-Identifier: Apache-2.0

// Server-side apply: field ownership, merging of applied configurations, and conflicts.
export { type ApplyOutcome, type ApplyWrite, applyConfiguration } from './apply.ts'
export { type Comparison, compare } from './compare.ts'
export type { ConflictCause } from './conflict.ts'
export { emptyObject } from './empty-object.ts'
export {
  difference,
  emptySet,
  ensureNamedFields,
  equalSets,
  type FieldEntry,
  type FieldSet,
  fields,
  hasPath,
  intersection,
  isEmptySet,
  pathsOf,
  recursiveDifference,
  setOf,
  union,
} from './field-set.ts'
export type { FieldType, ListType, MapType, ScalarKind, StructField } from './field-type.ts'
export { decodeFieldsV1, encodeFieldsV1, sortFieldsV1 } from './fields-v1.ts'
export {
  decodeManagedFields,
  encodeManagedFields,
  type ManagedFieldsEntry,
  type Owners,
  type Ownership,
} from './managed-fields.ts'
export { merge } from './merge.ts'
export type { OwnedKind } from './object-kind.ts'
export { objectMetaType } from './object-meta-type.ts'
export { type OpenApiSchemas, openApiFieldTypes } from './openapi-field-type.ts'
export {
  describePath,
  type FieldPath,
  fieldElement,
  indexElement,
  keyElement,
  type PathElement,
  valueElement,
} from './path-element.ts'
export { removeItems } from './remove-items.ts'
export { managedFieldsAfterScale, scaleManagedFields } from './scale-ownership.ts'
export { fieldTypeOfSchema } from './schema-field-type.ts'
export { fieldTypeOfStruct } from './struct-field-type.ts'
export type { GoField, GoStruct, GoType } from './struct-type.ts'
export { withoutTimeOnlyChanges } from './timestamps.ts'
export { toFieldSet } from './to-field-set.ts'
export { trackUpdate, type UpdateWrite } from './track-update.ts'
export type { FieldFilter } from './update-owners.ts'
export { excluding, managedByMain, managedByStatus } from './written-fields.ts'
