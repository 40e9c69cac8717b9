// SPDX-License-Identifier: Apache-2.0

import type { Condition, Time } from '../kubernetes/index.ts'
import type { LastError } from './last-error.ts'

export interface PodCliqueSetStatus {
  /** The generation whose specification was carried out to its end. */
  observedGeneration?: number
  conditions?: Condition[]
  lastErrors?: LastError[]
  /** A copy of `spec.replicas`. */
  replicas?: number
  /** Replicas that are available and entirely on the current generation. */
  updatedReplicas: number
  /** Those beyond `spec.replicas` that an update has made are counted as well. */
  availableReplicas: number
  hpaPodSelector?: string
  podGangStatuses?: PodGangStatusSummary[]
  currentGenerationHash?: string
  /** Of the running update, or of the last one. */
  updateProgress?: PodCliqueSetUpdateProgress
}

export type PodGangSummaryPhase = 'Pending' | 'Starting' | 'Running' | 'Failed' | 'Succeeded'

export interface PodGangStatusSummary {
  name: string
  phase: PodGangSummaryPhase
  conditions?: Condition[]
}

export interface PodCliqueSetUpdateProgress {
  updateStartedAt?: Time
  /** Absent while the update runs; with OnDelete it is set together with the start. */
  updateEndedAt?: Time
  /** Standalone PodCliques only. */
  updatedPodCliquesCount?: number
  totalPodCliquesCount?: number
  updatedPodCliqueScalingGroupsCount?: number
  totalPodCliqueScalingGroupsCount?: number
  /** No more entries than `maxUnavailable` and `maxSurge` allow, one by default; RollingRecreate only. */
  currentlyUpdating?: ReplicaUpdateProgress[]
  /** Replicas beyond `spec.replicas` that are there until the update ends. */
  surgeReplicas?: number
}

export interface ReplicaUpdateProgress {
  replicaIndex: number
  updateStartedAt?: Time
  updateEndedAt?: Time
}
