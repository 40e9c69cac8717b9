// SPDX-License-Identifier: Apache-2.0

// metrics.k8s.io/v1beta1 PodMetrics of simulated pods, as a metrics server reports them. `kubectl top pods` reads them.
import type { Pod } from '../controllers/kinds.ts'
import { customColumns } from '../custom-resources/columns.ts'
import type { KubeObject } from '../object.ts'
import type { Resource } from '../registry/resource.ts'
import { apiVersionOf } from '../server/presentation.ts'
import { annotatedUsage, assumedUsage } from './simulated-usage.ts'

const served = { group: 'metrics.k8s.io', version: 'v1beta1', kind: 'PodMetrics', plural: 'pods' }

/** Every read computes the metrics from the stored pod. */
export function podMetricsResource(pods: Resource): Resource {
  const { struct: _, scale: __, ...shared } = pods
  return {
    ...shared,
    ...served,
    singular: 'pod',
    shortNames: [],
    categories: [],
    verbs: ['get', 'list'],
    subresources: new Map(),
    columns: customColumns(undefined),
    conversion: { fromStorage: pod => podMetrics(pod as Pod) as KubeObject, toStorage: object => object },
  }
}

function podMetrics(pod: Pod): object {
  const { name, namespace, labels, creationTimestamp } = pod.metadata ?? {}
  const isRunning = pod.status?.phase === 'Running'
  return {
    apiVersion: apiVersionOf(served),
    kind: served.kind,
    metadata: { name, namespace, ...(labels && { labels }), creationTimestamp },
    timestamp: pod.status?.startTime ?? creationTimestamp,
    window: '15s',
    containers: isRunning
      ? (pod.spec?.containers ?? []).map(({ name: container = '' }, at) => ({
          name: container,
          usage: {
            cpu: `${Math.round(usageOf(pod, 'cpu', container, at))}m`,
            memory: `${Math.round(usageOf(pod, 'memory', container, at) / 1024)}Ki`,
          },
        }))
      : [],
  }
}

/** An annotated usage of the whole pod is the usage of its first container. */
function usageOf(pod: Pod, resource: string, container: string, at: number): number {
  const ofPod = annotatedUsage(pod, resource)
  const own = annotatedUsage(pod, resource, container)
  if (own !== undefined && own !== ofPod) return own
  if (ofPod !== undefined) return at === 0 ? ofPod : 0
  return assumedUsage(pod, resource, container) ?? 0
}
