// SPDX-License-Identifier: Apache-2.0

import type { Condition, ObjectMeta, Time } from '../kubernetes/index.ts'
import type { LastError } from './last-error.ts'

/**
 * Cliques that scale together. The operator creates it from a scaling-group template. Afterwards it is scaled on its
 * own.
 */
export interface PodCliqueScalingGroup {
  apiVersion: 'grove.io/v1alpha1'
  kind: 'PodCliqueScalingGroup'
  metadata: ObjectMeta
  spec: PodCliqueScalingGroupSpec
  status?: PodCliqueScalingGroupStatus
}

export interface PodCliqueScalingGroupSpec {
  replicas: number
  minAvailable?: number
  /** Names of clique templates, not of PodCliques. */
  cliqueNames: string[]
}

export interface PodCliqueScalingGroupStatus {
  /** A copy of `spec.replicas`. */
  replicas?: number
  /** Replicas whose PodCliques all exist and are scheduled. */
  scheduledReplicas: number
  /** Scheduled replicas whose PodCliques all have enough ready pods. */
  availableReplicas: number
  /** Available replicas that are entirely on the current generation. */
  updatedReplicas: number
  /** The pod selector for autoscalers. Other kinds name it `hpaPodSelector`. */
  selector?: string
  observedGeneration?: number
  lastErrors?: LastError[]
  conditions?: Condition[]
  currentPodCliqueSetGenerationHash?: string
  updateProgress?: PodCliqueScalingGroupUpdateProgress
}

export interface PodCliqueScalingGroupUpdateProgress {
  updateStartedAt: Time
  /** Absent during the update. */
  updateEndedAt?: Time
  /** Target of the update. */
  podCliqueSetGenerationHash: string
  updatedPodCliquesCount?: number
  totalPodCliquesCount?: number
  readyReplicaIndicesSelectedToUpdate?: ReplicasSelectedToUpdate
}

/** Ready replicas are replaced one at a time. */
export interface ReplicasSelectedToUpdate {
  current: number
  completed?: number[]
}
