// SPDX-License-Identifier: Apache-2.0

export {
  authorize,
  type ProtectionContext,
  type ProtectionRequest,
  type ProtectionResponse,
} from './authorizer.ts'
export { type ClusterNeeds, clusterNeeds } from './cluster-needs.ts'
export { type ClusterView, emptyCluster, type Lookup } from './cluster-view.ts'
export { validateClusterTopologyBinding } from './clustertopologybinding.ts'
export { type Decoded, decodeMetadata, decodePodCliqueSet } from './decode.ts'
export { defaultPodCliqueSet } from './defaulting.ts'
export { messageLimits, rejectionMessage, shortenedWarnings } from './long-texts.ts'
export { memberScalingWarning, type ScaledClique } from './member-scaling.ts'
export {
  type ValidationContext,
  type ValidationOutcome,
  validateChangedPodCliqueSet,
  validateNewPodCliqueSet,
} from './podcliqueset/validate.ts'
export type { AdmissionResponse, Cause } from './response.ts'
export { type AdmissionRequest, admit } from './review.ts'
