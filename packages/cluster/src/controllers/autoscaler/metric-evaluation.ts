// SPDX-License-Identifier: Apache-2.0

import { formatQuantity, quantityOf } from '@grove/apimachinery'
import type { Stored } from '@grove/kube'
import { amountOf } from '../../scheduling/resources.ts'
import type {
  AutoscalingV2MetricSpec,
  AutoscalingV2MetricStatus,
  AutoscalingV2MetricTarget,
  AutoscalingV2MetricValueStatus,
} from '../../schema/types.generated.ts'
import type { HorizontalPodAutoscaler, Pod } from '../kinds.ts'
import { isReady } from '../pod-state.ts'
import { type MetricsSource, milli } from './metrics-source.ts'
import { recommendForPods, recommendForShare, recommendForValue, type Sample } from './recommendation.ts'

export type Evaluation =
  | {
      readonly ok: true
      readonly replicas: number
      readonly name: string
      readonly status: AutoscalingV2MetricStatus
    }
  | { readonly ok: false; readonly reason: string; readonly message: string }

export interface Situation {
  readonly autoscaler: Stored<HorizontalPodAutoscaler>
  readonly source: MetricsSource
  /** Active pods of the target. */
  readonly pods: readonly Stored<Pod>[]
  readonly specReplicas: number
  readonly statusReplicas: number
}

/** Evaluates one metric of an autoscaler. */
export function evaluateMetric(metric: AutoscalingV2MetricSpec, situation: Situation): Evaluation {
  switch (metric.type) {
    case 'Resource':
      return evaluateResource(metric, situation)
    case 'ContainerResource':
      return evaluateResource(metric, situation, metric.containerResource?.container)
    case 'Pods':
      return evaluatePods(metric, situation)
    case 'Object':
      return evaluateWhole(metric, situation)
    case 'External':
      return evaluateWhole(metric, situation)
    default:
      return {
        ok: false,
        reason: 'InvalidMetricSourceType',
        message: `the HPA was unable to compute the replica count: unknown metric source type "${metric.type}"`,
      }
  }
}

function failed(metric: AutoscalingV2MetricSpec, why: string): Evaluation {
  const reason = `FailedGet${metric.type}Metric`
  return { ok: false, reason, message: `the HPA was unable to compute the replica count: ${why}` }
}

function evaluateResource(
  metric: AutoscalingV2MetricSpec,
  { autoscaler, source, pods, specReplicas }: Situation,
  container?: string,
): Evaluation {
  const part = container === undefined ? metric.resource : metric.containerResource
  const { name: resource = '', target = {} } = part ?? {}
  const samples = pods.map(
    (pod): Sample => ({
      usage: source.podUsage(autoscaler, pod, resource, container),
      request: requestOf(pod, resource, container),
      ready: isReady(pod),
    }),
  )
  const byShare = target.averageUtilization !== undefined
  const wanted = byShare
    ? { utilization: target.averageUtilization! }
    : { amount: amountOf(resource, target.averageValue ?? '0') }
  const result = recommendForPods(samples, wanted, specReplicas)
  if (typeof result === 'string')
    return failed(
      metric,
      `failed to get ${resource} ${byShare ? 'utilization' : 'usage'}: ${resourceFailure(result, resource, pods)}`,
    )
  const current: AutoscalingV2MetricValueStatus = {
    averageValue: quantityText(result.average, resource === 'cpu'),
    ...(result.utilization !== undefined && { averageUtilization: result.utilization }),
  }
  const label = `${resource} ${container === undefined ? '' : 'container '}resource`
  const status =
    container === undefined
      ? { type: metric.type, resource: { name: resource, current } }
      : { type: metric.type, containerResource: { name: resource, container, current } }
  const name = byShare ? `${label} utilization (percentage of request)` : label
  return { ok: true, replicas: result.replicas, name, status }
}

function resourceFailure(why: string, resource: string, pods: readonly Stored<Pod>[]): string {
  if (why !== 'missing request') return why
  const pod = pods.find(each => requestOf(each, resource) === 0)
  const container = pod?.spec?.containers?.find(({ resources }) => !resources?.requests?.[resource])
  return `missing request for ${resource} in container ${container?.name} of Pod ${pod?.metadata.name}`
}

function evaluatePods(metric: AutoscalingV2MetricSpec, situation: Situation): Evaluation {
  const { autoscaler, source, pods, specReplicas } = situation
  const name = metric.pods?.metric?.name ?? ''
  const samples = pods.map(
    (pod): Sample => ({ usage: source.podMetric(autoscaler, pod, name), request: 0, ready: isReady(pod) }),
  )
  const amount = milli(metric.pods?.target?.averageValue ?? '0')
  const result = recommendForPods(samples, { amount }, specReplicas)
  if (typeof result === 'string') return failed(metric, `unable to get metric ${name}: ${result}`)
  const current = { averageValue: quantityText(result.average, true) }
  const status = { type: metric.type, pods: { metric: { ...metric.pods?.metric }, current } }
  return { ok: true, replicas: result.replicas, name: `pods metric ${name}`, status }
}

function evaluateWhole(metric: AutoscalingV2MetricSpec, situation: Situation): Evaluation {
  const { autoscaler, source } = situation
  const about = metric.object?.describedObject
  const isObject = metric.type === 'Object'
  const identifier = (isObject ? metric.object : metric.external)?.metric ?? {}
  const name = identifier.name ?? ''
  const value = isObject
    ? source.objectMetric(autoscaler, about ?? {}, name)
    : source.externalMetric(autoscaler, name)
  if (value === undefined)
    return failed(
      metric,
      isObject
        ? `unable to get metric ${name}: ${about?.kind} on ${autoscaler.metadata.namespace} ${about?.name}`
        : `unable to get external metric ${autoscaler.metadata.namespace}/${name}/nil: no metrics returned from external metrics API`,
    )
  const target = (isObject ? metric.object : metric.external)?.target ?? {}
  const { replicas, current } = wholeReplicas(value, target, situation)
  const status = isObject
    ? { type: metric.type, object: { describedObject: { ...about }, metric: { ...identifier }, current } }
    : { type: metric.type, external: { metric: { ...identifier }, current } }
  const label = isObject ? `${about?.kind} metric ${name}` : `external metric ${name}(nil)`
  return { ok: true, replicas, name: label, status }
}

function wholeReplicas(value: number, target: AutoscalingV2MetricTarget, situation: Situation) {
  const { pods, specReplicas, statusReplicas } = situation
  if (target.averageValue !== undefined) {
    const replicas = recommendForShare(value, milli(target.averageValue), statusReplicas)
    const share = statusReplicas === 0 ? 0 : Math.ceil(value / statusReplicas)
    return { replicas, current: { averageValue: quantityText(share, true) } }
  }
  const ready = pods.filter(isReady).length
  const replicas = recommendForValue(value, milli(target.value ?? '0'), ready, specReplicas)
  return { replicas, current: { value: quantityText(value, true) } }
}

function requestOf(pod: Pod, resource: string, container?: string): number {
  let sum = 0
  for (const { name, resources } of pod.spec?.containers ?? [])
    if (container === undefined || name === container)
      sum += amountOf(resource, resources?.requests?.[resource] ?? 0)
  return sum
}

function quantityText(amount: number, inThousandths: boolean): string {
  const whole = quantityOf(Math.round(amount))
  return formatQuantity(inThousandths ? { ...whole, scale: whole.scale - 3 } : whole)
}
