// SPDX-License-Identifier: Apache-2.0

import type { MetricSpec } from '../kubernetes/index.ts'

/** Asks for a HorizontalPodAutoscaler: `autoScalingConfig` of a clique, `scaleConfig` of a scaling group. */
export interface AutoScalingConfig {
  /** Admission fills in the replicas of the clique or group. */
  minReplicas?: number
  maxReplicas: number
  /** Copied as they are; without any the cluster's own default applies (80 % CPU). */
  metrics?: MetricSpec[]
}
