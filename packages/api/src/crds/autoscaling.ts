// SPDX-License-Identifier: Apache-2.0

import type { AutoScalingConfig } from '../types/index.ts'
import { embedded } from './embedded.ts'
import { int32, object, required } from './schema.ts'
import type { StructuralSchema } from './structural-schema.ts'

/** The same content stands under two names: `autoScalingConfig` of cliques and `scaleConfig` of scaling groups. */
export function autoScaling(description: string): StructuralSchema {
  return object<AutoScalingConfig>(description, {
    minReplicas: int32(
      'The autoscaler goes no lower. Must be at least `minAvailable`; defaults to `replicas` of the same entry.',
    ),
    maxReplicas: required(int32('The autoscaler goes no higher.')),
    metrics: {
      description:
        'What to scale by: metrics of autoscaling/v2, copied to the HorizontalPodAutoscaler as they are (see `kubectl explain hpa.spec.metrics`). Without any the cluster scales at 80 % CPU utilisation.',
      type: 'array',
      items: embedded('autoscaling.v2.MetricSpec'),
      'x-kubernetes-list-type': 'atomic',
    },
  })
}
