// SPDX-License-Identifier: Apache-2.0

import type { Condition, ObjectMeta } from '../kubernetes/index.ts'

/** Names the levels of the cluster topology and the topology objects of schedulers. */
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
  /** Schedulers whose topology object the operator does not manage. It creates those of the others. */
  schedulerTopologyBindings?: SchedulerTopologyBinding[]
}

export interface TopologyLevel {
  /** Name of the level in workloads: `zone`, `rack`, … */
  domain: string
  /** Key of the node label whose value is the domain of a node at this level. */
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
  /** Only for topology objects that the operator does not manage. */
  schedulerBackendTopologyObservedGeneration?: number
  /** Why it is not in sync. */
  message?: string
}
