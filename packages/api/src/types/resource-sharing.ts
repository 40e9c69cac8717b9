// SPDX-License-Identifier: Apache-2.0

import type { ResourceClaimTemplateSpec } from '../kubernetes/index.ts'

/** A claim template inside a PodCliqueSet, for claims that several pods share. */
export interface ResourceClaimTemplateConfig {
  name: string
  /** The API server prunes its `metadata`. Only `spec` is kept. */
  templateSpec: ResourceClaimTemplateSpec
}

/** One claim per instance of the owner, or one per replica of it. */
export type ResourceSharingScope = 'AllReplicas' | 'PerReplica'

/** Claims that pods of a clique share; the form used at a clique. */
export interface ResourceSharing {
  /** An entry of `resourceClaimTemplates`, or else a ResourceClaimTemplate object. */
  name: string
  /** Namespace of the ResourceClaimTemplate object. The default is the namespace of the PodCliqueSet. */
  namespace?: string
  scope: ResourceSharingScope
}

/** At a scaling group: `filter` selects the cliques whose pods use the claim. The default is all. */
export interface ScalingGroupResourceSharing extends ResourceSharing {
  filter?: CliqueFilter
}

/** At a PodCliqueSet: `filter` may select scaling groups too. */
export interface PodCliqueSetResourceSharing extends ResourceSharing {
  filter?: CliqueOrScalingGroupFilter
}

export interface CliqueFilter {
  childCliqueNames?: string[]
}

export interface CliqueOrScalingGroupFilter extends CliqueFilter {
  childScalingGroupNames?: string[]
}
