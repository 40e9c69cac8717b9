// SPDX-License-Identifier: Apache-2.0

import type { Condition, ObjectMeta, PodSpec, Time } from '../kubernetes/index.ts'
import type { AutoScalingConfig } from './autoscaling.ts'
import type { LastError } from './last-error.ts'

/** Pods of one role that start, scale and update together. Made by the operator from a clique template. */
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
  /** How many pods are scheduled as one gang, and below which number the clique counts as unavailable. */
  minAvailable?: number
  /** In a template: names of cliques. In a PodClique: full names of the PodCliques to wait for. */
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
  /** Of the PodCliqueSet: the generation that every pod here has reached. */
  currentPodCliqueSetGenerationHash?: string
  currentPodTemplateHash?: string
  updateProgress?: PodCliqueUpdateProgress
}

export interface PodCliqueUpdateProgress {
  updateStartedAt?: Time
  /** Absent while the update runs. */
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
