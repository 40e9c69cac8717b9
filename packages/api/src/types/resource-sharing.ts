// SPDX-License-Identifier: Apache-2.0

import type { ResourceClaimTemplateSpec } from '../kubernetes/index.ts'

/** A claim template inside a PodCliqueSet, for claims that several pods share. */
export interface ResourceClaimTemplateConfig {
  name: string
  /** Its `metadata` is pruned by the API server; only `spec` arrives. */
  templateSpec: ResourceClaimTemplateSpec
}

/** One claim per instance of the owner, or one per replica of it. */
export type ResourceSharingScope = 'AllReplicas' | 'PerReplica'

/** Claims that pods of a clique share; the form used at a clique. */
export interface ResourceSharing {
  /** An entry of `resourceClaimTemplates`, or else a ResourceClaimTemplate object. */
  name: string
  /** Namespace of the ResourceClaimTemplate object; that of the PodCliqueSet when absent. */
  namespace?: string
  scope: ResourceSharingScope
}

/** At a scaling group: `filter` chooses the cliques whose pods use the claim; all when absent. */
export interface ScalingGroupResourceSharing extends ResourceSharing {
  filter?: CliqueFilter
}

/** At a PodCliqueSet: `filter` may choose scaling groups too. */
export interface PodCliqueSetResourceSharing extends ResourceSharing {
  filter?: CliqueOrScalingGroupFilter
}

export interface CliqueFilter {
  childCliqueNames?: string[]
}

export interface CliqueOrScalingGroupFilter extends CliqueFilter {
  childScalingGroupNames?: string[]
}
