// SPDX-License-Identifier: Apache-2.0

import type { Condition, ObjectMeta } from '../kubernetes/index.ts'

/** Pods that a gang scheduler places all or nothing. The contract between operator and schedulers. */
export interface PodGang {
  apiVersion: 'scheduler.grove.io/v1alpha1'
  kind: 'PodGang'
  metadata: ObjectMeta
  spec: PodGangSpec
  status?: PodGangStatus
}

export interface PodGangSpec {
  /** One entry per PodClique of the gang. Spelled in lower case. */
  podgroups: PodGroup[]
  /** For all pods of the gang together. */
  topologyConstraint?: PodGangTopologyConstraint
  /** For some groups together: one entry per scaling-group replica that has a constraint. */
  topologyConstraintGroupConfigs?: TopologyConstraintGroupConfig[]
  priorityClassName?: string
  /** A hint to reuse the reservation of another gang. The operator does not set it yet. */
  reuseReservationRef?: NamespacedName
}

export interface PodGroup {
  /** Name of the PodClique. */
  name: string
  /** Ascending by name; empty while there are no pods. */
  podReferences: NamespacedName[]
  /** Number of pods that must be scheduled together. Further pods may follow later. */
  minReplicas: number
  topologyConstraint?: PodGangTopologyConstraint
}

export interface NamespacedName {
  namespace: string
  name: string
}

export interface TopologyConstraintGroupConfig {
  name: string
  podGroupNames: string[]
  topologyConstraint?: PodGangTopologyConstraint
}

export interface PodGangTopologyConstraint {
  packConstraint?: TopologyPackConstraint
}

/** Keys of node labels, not names of domains. */
export interface TopologyPackConstraint {
  required?: string
  preferred?: string
}

/** Pending: created; Starting: pods are being bound; Running: all are scheduled and running. */
export type PodGangPhase = 'Pending' | 'Starting' | 'Running'

export interface PodGangStatus {
  phase: PodGangPhase
  conditions?: Condition[]
  /** Network quality of the placement. 1 is best. */
  placementScore?: number
}
