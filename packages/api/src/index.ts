// SPDX-License-Identifier: Apache-2.0

export * from './admission/index.ts'
export * from './annotations.ts'
export * from './conditions.ts'
export * from './configuration/index.ts'
export * from './crds/index.ts'
export * from './environment.ts'
export * from './error-codes.ts'
export * from './events.ts'
export * from './finalizers.ts'
export * from './kinds.ts'
export type * from './kubernetes/index.ts'
export * from './labels.ts'
export * from './names.ts'
export { describeFieldChange, type FieldChange } from './revision/field-change.ts'
export { generationHash, type HashAlgorithm, hashAlgorithmOf, podTemplateHash } from './revision/hash.ts'
export {
  type CliqueImpact,
  type HarmlessChange,
  type HarmlessChangeKind,
  type Impact,
  impact,
} from './revision/impact.ts'
export { legacyGenerationHash, legacyPodTemplateHash } from './revision/legacy.ts'
export * from './schedulers.ts'
export type * from './types/index.ts'
