// SPDX-License-Identifier: Apache-2.0

import type { Condition, ObjectMeta, PodSpec, Time } from '../kubernetes/index.ts'
import type { AutoScalingConfig } from './autoscaling.ts'
import type { LastError } from './last-error.ts'

/** Pods of one role that start, scale and update together. The operator creates it from a clique template. */
export interface PodClique {
  apiVersion: 'grove.io/v1alpha1'
  kind: 'PodClique'
  metadata: ObjectMeta
  spec: PodCliqueSpec
  status?: PodCliqueStatus
}

export interface PodCliqueSpec {
  roleName: string
  podSpec: PodSpec
  replicas: number
  /** Number of pods that are scheduled as one gang. With fewer available pods the clique is unavailable. */
  minAvailable?: number
  /** In a template: names of cliques. In a PodClique: full names of the PodCliques that it waits for. */
  startsAfter?: string[]
  autoScalingConfig?: AutoScalingConfig
}

export interface PodCliqueStatus {
  /** No condition is set while this is absent. */
  observedGeneration?: number
  lastErrors?: LastError[]
  /** Pods that are not being deleted. */
  replicas?: number
  readyReplicas: number
  updatedReplicas: number
  scheduleGatedReplicas: number
  scheduledReplicas: number
  /** Standalone PodCliques only: members of a scaling group are scaled by their group. */
  hpaPodSelector?: string
  conditions?: Condition[]
  /** Generation of the PodCliqueSet that every pod of the PodClique has reached. */
  currentPodCliqueSetGenerationHash?: string
  currentPodTemplateHash?: string
  updateProgress?: PodCliqueUpdateProgress
}

export interface PodCliqueUpdateProgress {
  updateStartedAt?: Time
  /** Absent during the update. */
  updateEndedAt?: Time
  /** Target of the update. */
  podCliqueSetGenerationHash: string
  podTemplateHash: string
  readyPodsSelectedToUpdate?: PodsSelectedToUpdate
}

/** Ready pods are replaced one at a time. */
export interface PodsSelectedToUpdate {
  current: string
  /** Oldest first. */
  completed?: string[]
  /** Index of `current`: the pod that takes this index must be ready before the next pod is replaced. */
  currentIndex?: number
}
