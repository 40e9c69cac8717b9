// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import type { MetricSpec } from '../../kubernetes/index.ts'

/** Each metric type with the field that describes it. */
const sources = {
  Resource: 'resource',
  ContainerResource: 'containerResource',
  Pods: 'pods',
  Object: 'object',
  External: 'external',
} as const

/**
 * Rejects metrics that no HorizontalPodAutoscaler can use. Only contradictions are rejected. Omissions are accepted for
 * compatibility.
 */
export function validateMetrics(metrics: readonly MetricSpec[] | undefined, field: string): FieldError[] {
  return (metrics ?? []).flatMap((metric, index) => {
    const at = `${field}[${index}]`
    if (metric.type === '') return []
    if (!isMetricType(metric.type)) {
      return [fieldError.unsupported(`${at}.type`, metric.type, Object.keys(sources))]
    }
    const source = sources[metric.type]
    return metric[source]
      ? []
      : [fieldError.required(`${at}.${source}`, `is required for a metric of type ${metric.type}`)]
  })
}

function isMetricType(type: string): type is keyof typeof sources {
  return Object.hasOwn(sources, type)
}
