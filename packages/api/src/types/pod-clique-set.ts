// SPDX-License-Identifier: Apache-2.0

import type { ObjectMeta } from '../kubernetes/index.ts'
import type { AutoScalingConfig } from './autoscaling.ts'
import type { PodCliqueSpec } from './pod-clique.ts'
import type { PodCliqueSetStatus } from './pod-clique-set-status.ts'
import type {
  PodCliqueSetResourceSharing,
  ResourceClaimTemplateConfig,
  ResourceSharing,
  ScalingGroupResourceSharing,
} from './resource-sharing.ts'
import type { TopologyConstraint } from './topology-constraint.ts'

/** A complete inference system: its roles and how they scale, start and update together, in `replicas` copies. */
export interface PodCliqueSet {
  apiVersion: 'grove.io/v1alpha1'
  kind: 'PodCliqueSet'
  metadata: ObjectMeta
  spec: PodCliqueSetSpec
  status?: PodCliqueSetStatus
}

export interface PodCliqueSetSpec {
  /** The schema default is 0: without a value the set has no pods. */
  replicas?: number
  updateStrategy?: PodCliqueSetUpdateStrategy
  template: PodCliqueSetTemplate
}

export type UpdateStrategyType = 'RollingRecreate' | 'OnDelete'

/** Absent means RollingRecreate. All other fields apply to RollingRecreate and are extensions of this operator. */
export interface PodCliqueSetUpdateStrategy {
  type?: UpdateStrategyType
  /** While true, the update replaces no further replica. */
  paused?: boolean
  /** Replicas with a lower index are not updated. */
  partition?: number
  /** Maximum number of replicas of the set that the update makes unavailable at the same time. The default is 1. */
  maxUnavailable?: number
  /** Maximum number of additional replicas during an update. The default is 0. */
  maxSurge?: number
  /** Maximum duration of the update of one replica before a condition reports a missed deadline. */
  progressDeadlineSeconds?: number
}

export type CliqueStartupType =
  | 'CliqueStartupTypeAnyOrder'
  | 'CliqueStartupTypeInOrder'
  | 'CliqueStartupTypeExplicit'

export interface PodCliqueSetTemplate {
  /** The order is significant for in-order startup. */
  cliques: CliqueTemplate[]
  cliqueStartupType?: CliqueStartupType
  /** Priority class of the gang. Pods keep the class of their own spec. */
  priorityClassName?: string
  headlessServiceConfig?: HeadlessServiceConfig
  topologyConstraint?: TopologyConstraint
  /** Duration of a breach of minAvailable before gang termination, for example `4h`. */
  terminationDelay?: string
  resourceClaimTemplates?: ResourceClaimTemplateConfig[]
  resourceSharing?: PodCliqueSetResourceSharing[]
  podCliqueScalingGroups?: ScalingGroupTemplate[]
}

/** The operator creates the headless Service in any case. */
export interface HeadlessServiceConfig {
  publishNotReadyAddresses: boolean
}

/** One role of the set. */
export interface CliqueTemplate {
  /** Last part of the names of its PodCliques. */
  name: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  topologyConstraint?: TopologyConstraint
  resourceSharing?: ResourceSharing[]
  spec: PodCliqueSpec
}

/** Cliques that scale as one unit, for example the leader and the workers of a multi-node model. */
export interface ScalingGroupTemplate {
  name: string
  cliqueNames: string[]
  annotations?: Record<string, string>
  /** Applies at creation. Afterwards users scale the PodCliqueScalingGroup. */
  replicas?: number
  /** This many replicas belong to the base gang. Each further replica has a gang of its own. */
  minAvailable?: number
  scaleConfig?: AutoScalingConfig
  resourceSharing?: ScalingGroupResourceSharing[]
  topologyConstraint?: TopologyConstraint
}
