// SPDX-License-Identifier: Apache-2.0

import type { Condition, ObjectMeta } from '../kubernetes/index.ts'

/** Names the levels of the cluster's topology, and what schedulers know of it. */
export interface ClusterTopologyBinding {
  apiVersion: 'grove.io/v1alpha1'
  kind: 'ClusterTopologyBinding'
  metadata: ObjectMeta
  spec: ClusterTopologyBindingSpec
  status?: ClusterTopologyBindingStatus
}

export interface ClusterTopologyBindingSpec {
  /** Broadest first. */
  levels: TopologyLevel[]
  /** Schedulers whose topology object somebody else manages; those of the others are created by the operator. */
  schedulerTopologyBindings?: SchedulerTopologyBinding[]
}

export interface TopologyLevel {
  /** How workloads call it: `zone`, `rack`, … */
  domain: string
  /** Key of the node label that tells to which domain of this level a node belongs. */
  key: string
}

export interface SchedulerTopologyBinding {
  schedulerName: string
  /** Name of the scheduler's topology object. */
  topologyReference: string
}

export interface ClusterTopologyBindingStatus {
  observedGeneration?: number
  conditions?: Condition[]
  schedulerTopologyStatuses?: SchedulerTopologyStatus[]
}

export interface SchedulerTopologyStatus {
  schedulerName: string
  topologyReference: string
  inSync: boolean
  /** Only of objects that somebody else manages. */
  schedulerBackendTopologyObservedGeneration?: number
  /** Why it is not in sync. */
  message?: string
}
