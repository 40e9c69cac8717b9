// SPDX-License-Identifier: Apache-2.0

import type { Condition, Time } from '../kubernetes/index.ts'
import type { LastError } from './last-error.ts'

export interface PodCliqueSetStatus {
  /** The last generation that was reconciled completely. */
  observedGeneration?: number
  conditions?: Condition[]
  lastErrors?: LastError[]
  /** A copy of `spec.replicas`. */
  replicas?: number
  /** Replicas that are available and entirely on the current generation. */
  updatedReplicas: number
  /** Includes surge replicas of an update beyond `spec.replicas`. */
  availableReplicas: number
  hpaPodSelector?: string
  podGangStatuses?: PodGangStatusSummary[]
  currentGenerationHash?: string
  /** Progress of the current update, or of the last one. */
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
  /** Absent during the update. With OnDelete it is set together with the start. */
  updateEndedAt?: Time
  /** Standalone PodCliques only. */
  updatedPodCliquesCount?: number
  totalPodCliquesCount?: number
  updatedPodCliqueScalingGroupsCount?: number
  totalPodCliqueScalingGroupsCount?: number
  /** At most `maxUnavailable` plus `maxSurge` entries, one by default. RollingRecreate only. */
  currentlyUpdating?: ReplicaUpdateProgress[]
  /** Replicas beyond `spec.replicas` that exist until the update ends. */
  surgeReplicas?: number
}

export interface ReplicaUpdateProgress {
  replicaIndex: number
  updateStartedAt?: Time
  updateEndedAt?: Time
}
