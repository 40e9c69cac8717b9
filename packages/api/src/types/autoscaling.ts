// SPDX-License-Identifier: Apache-2.0

import type { MetricSpec } from '../kubernetes/index.ts'

/** Requests a HorizontalPodAutoscaler: `autoScalingConfig` of a clique, `scaleConfig` of a scaling group. */
export interface AutoScalingConfig {
  /** Defaults to the replicas of the clique or group. */
  minReplicas?: number
  maxReplicas: number
  /** Copied unchanged. Without metrics Kubernetes applies its default (80 % CPU). */
  metrics?: MetricSpec[]
}
