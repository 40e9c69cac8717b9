// SPDX-License-Identifier: Apache-2.0

export {
  type CanonicalClique,
  type CanonicalPodTemplate,
  type CanonicalSetTemplate,
  canonicalPodTemplate,
  canonicalSetTemplate,
  sameCanonical,
} from './canonical.ts'
export { canonicalJson } from './canonical-json.ts'
export { canonicalPodSpec } from './canonical-pod.ts'
export { describeFieldChange, type FieldChange } from './field-change.ts'
export {
  formerGenerationAlgorithm,
  formerGenerationHash,
  generationAlgorithm,
  generationHash,
  type HashAlgorithm,
  hashAlgorithmOf,
  podTemplateAlgorithm,
  podTemplateHash,
} from './hash.ts'
export {
  type CliqueImpact,
  type HarmlessChange,
  type HarmlessChangeKind,
  type Impact,
  impact,
} from './impact.ts'
export type { CliqueTemplateInput, SetInput, SetSpecInput, SetTemplateInput } from './input.ts'
export { legacyGenerationHash, legacyPodTemplateHash } from './legacy.ts'
export {
  type RecordedClique,
  type Restored,
  type RevisionRecord,
  readRevisionRecord,
  restoreRecord,
  revisionRecord,
} from './record.ts'
