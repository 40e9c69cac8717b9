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

/** A whole inference system: its roles, how they scale, start and update together; `replicas` copies of it. */
export interface PodCliqueSet {
  apiVersion: 'grove.io/v1alpha1'
  kind: 'PodCliqueSet'
  metadata: ObjectMeta
  spec: PodCliqueSetSpec
  status?: PodCliqueSetStatus
}

export interface PodCliqueSetSpec {
  /** The API server fills in 0: without a number the set is idle. */
  replicas?: number
  updateStrategy?: PodCliqueSetUpdateStrategy
  template: PodCliqueSetTemplate
}

export type UpdateStrategyType = 'RollingRecreate' | 'OnDelete'

/** Absent means RollingRecreate. Everything but the type steers RollingRecreate, and is an addition of this operator. */
export interface PodCliqueSetUpdateStrategy {
  type?: UpdateStrategyType
  /** While true, nothing more is replaced by the update. */
  paused?: boolean
  /** Replicas with a lower index stay as they are. */
  partition?: number
  /** How many replicas of the set may be down for the update at the same time; absent means 1. */
  maxUnavailable?: number
  /** How many replicas the set may have beyond its own while it is updated; absent means none. */
  maxSurge?: number
  /** How long the update of one replica may take before a condition says that it does not get on. */
  progressDeadlineSeconds?: number
}

export type CliqueStartupType =
  | 'CliqueStartupTypeAnyOrder'
  | 'CliqueStartupTypeInOrder'
  | 'CliqueStartupTypeExplicit'

export interface PodCliqueSetTemplate {
  /** The order counts for in-order start-up. */
  cliques: CliqueTemplate[]
  cliqueStartupType?: CliqueStartupType
  /** Of the gang; pods keep the class that their own specification names. */
  priorityClassName?: string
  headlessServiceConfig?: HeadlessServiceConfig
  topologyConstraint?: TopologyConstraint
  /** How long a breach of availability may last before the gang is terminated, for example `4h`. */
  terminationDelay?: string
  resourceClaimTemplates?: ResourceClaimTemplateConfig[]
  resourceSharing?: PodCliqueSetResourceSharing[]
  podCliqueScalingGroups?: ScalingGroupTemplate[]
}

/** The headless Service exists whether or not it is configured here. */
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
  /** Counts at creation; afterwards the PodCliqueScalingGroup is scaled itself. */
  replicas?: number
  /** These replicas belong to the base gang; the others are gangs of their own. */
  minAvailable?: number
  scaleConfig?: AutoScalingConfig
  resourceSharing?: ScalingGroupResourceSharing[]
  topologyConstraint?: TopologyConstraint
}
