// SPDX-License-Identifier: Apache-2.0

export { formatAge, formatElapsed } from './age.ts'
export {
  type ApplyOutcome,
  type ApplyWrite,
  applyConfiguration,
  emptyObject,
  excluding,
  type FieldFilter,
  type FieldPath,
  type FieldSet,
  type FieldType,
  fieldElement,
  fieldTypeOfSchema,
  fieldTypeOfStruct,
  type GoStruct,
  type ManagedFieldsEntry,
  managedByMain,
  managedByStatus,
  managedFieldsAfterScale,
  type OwnedKind,
  openApiFieldTypes,
  scaleManagedFields,
  sortFieldsV1,
  trackUpdate,
  type UpdateWrite,
  withoutTimeOnlyChanges,
} from './apply/index.ts'
export { type Condition, ConditionError, compileCondition } from './cel/condition.ts'
export {
  type CelDevice,
  celDevice,
  compileDeviceSelector,
  type DeviceSelector,
  DeviceSelectorError,
  type DeviceSelectorResult,
  type SelectableDevice,
} from './cel/device-selector.ts'
export * from './duration.ts'
export * from './equality.ts'
export * from './field-error.ts'
export * from './field-selector.ts'
export * from './json-patch.ts'
export * from './json-pointer.ts'
export * from './json-value.ts'
export * from './label-selector.ts'
export * from './merge-patch.ts'
export * from './names.ts'
export * from './object-meta.ts'
export * from './quantity.ts'
export { quote } from './quote.ts'
export { applyStrategicMerge, StrategicMergeError } from './strategic-merge/index.ts'
export * from './structural-schema/index.ts'
export { isBlank, trimSpace } from './white-space.ts'
