// SPDX-License-Identifier: Apache-2.0

import type { AutoScalingConfig } from '../types/index.ts'
import { embedded } from './embedded.ts'
import { int32, object, required } from './schema.ts'
import type { StructuralSchema } from './structural-schema.ts'

/** The content is the same under two names: `autoScalingConfig` of cliques and `scaleConfig` of scaling groups. */
export function autoScaling(description: string): StructuralSchema {
  return object<AutoScalingConfig>(description, {
    minReplicas: int32(
      'Lower bound of the autoscaler. Must be at least `minAvailable`. Defaults to `replicas` of the same entry.',
    ),
    maxReplicas: required(int32('Upper bound of the autoscaler.')),
    metrics: {
      description:
        'Metrics of autoscaling/v2, copied unchanged to the HorizontalPodAutoscaler (see `kubectl explain hpa.spec.metrics`). Defaults to 80 % CPU utilisation.',
      type: 'array',
      items: embedded('autoscaling.v2.MetricSpec'),
      'x-kubernetes-list-type': 'atomic',
    },
  })
}
