// SPDX-License-Identifier: Apache-2.0

import type { Stored } from '@grove/kube'
import { annotatedUsage, assumedUsage, simulatePrefix } from '../../metrics/simulated-usage.ts'
import { amountOf } from '../../scheduling/resources.ts'
import type { HorizontalPodAutoscaler, Pod } from '../kinds.ts'

export interface DescribedObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly name?: string
}

/**
 * The source of metric values; undefined means unknown. cpu is in millicores, memory in bytes, and other
 * metrics in thousandths of their unit.
 */
export interface MetricsSource {
  podUsage(
    autoscaler: Stored<HorizontalPodAutoscaler>,
    pod: Stored<Pod>,
    resource: string,
    container?: string,
  ): number | undefined
  podMetric(autoscaler: Stored<HorizontalPodAutoscaler>, pod: Stored<Pod>, metric: string): number | undefined
  objectMetric(
    autoscaler: Stored<HorizontalPodAutoscaler>,
    object: DescribedObject,
    metric: string,
  ): number | undefined
  externalMetric(autoscaler: Stored<HorizontalPodAutoscaler>, metric: string): number | undefined
}

/**
 * Metric values from annotations: `simulate.grove.io/usage.cpu: 250m` on a pod or, for all its pods, on the
 * autoscaler. `simulate.grove.io/metric.queue-length: "30"` works the same way. Values set in code take
 * precedence.
 */
export class SettableMetrics implements MetricsSource {
  readonly #assumesUsage: boolean
  readonly #usage = new Map<string, number>()
  readonly #metrics = new Map<string, number>()

  /** With `assumesUsage`, pods without a value use a part of their requests. */
  constructor({ assumesUsage = false }: { readonly assumesUsage?: boolean } = {}) {
    this.#assumesUsage = assumesUsage
  }

  /** Sets the usage of each pod of an autoscaler's target. Undefined removes it. */
  setUsage(
    autoscaler: { namespace: string; name: string },
    resource: string,
    quantity: string | undefined,
  ): void {
    set(this.#usage, keyOf(autoscaler, resource), quantity && amountOf(resource, quantity))
  }

  /** Sets a Pods, Object or External metric of an autoscaler. */
  setMetric(
    autoscaler: { namespace: string; name: string },
    metric: string,
    quantity: string | undefined,
  ): void {
    set(this.#metrics, keyOf(autoscaler, metric), quantity && milli(quantity))
  }

  podUsage(
    autoscaler: Stored<HorizontalPodAutoscaler>,
    pod: Stored<Pod>,
    resource: string,
    container?: string,
  ): number | undefined {
    return (
      this.#usage.get(keyOf(autoscaler.metadata, resource)) ??
      annotatedUsage(pod, resource, container) ??
      annotatedUsage(autoscaler, resource) ??
      (this.#assumesUsage ? assumedUsage(pod, resource, container) : undefined)
    )
  }

  podMetric(
    autoscaler: Stored<HorizontalPodAutoscaler>,
    pod: Stored<Pod>,
    metric: string,
  ): number | undefined {
    const text = annotation(pod, `metric.${metric}`)
    return text === undefined ? this.#metric(autoscaler, metric) : milli(text)
  }

  objectMetric(
    autoscaler: Stored<HorizontalPodAutoscaler>,
    _: DescribedObject,
    metric: string,
  ): number | undefined {
    return this.#metric(autoscaler, metric)
  }

  externalMetric(autoscaler: Stored<HorizontalPodAutoscaler>, metric: string): number | undefined {
    return this.#metric(autoscaler, metric)
  }

  #metric(autoscaler: Stored<HorizontalPodAutoscaler>, metric: string): number | undefined {
    const text = annotation(autoscaler, `metric.${metric}`)
    return (
      this.#metrics.get(keyOf(autoscaler.metadata, metric)) ?? (text === undefined ? undefined : milli(text))
    )
  }
}

/** Returns a quantity in thousandths. */
export function milli(quantity: string): number {
  return amountOf('cpu', quantity)
}

function annotation({ metadata }: Stored, name: string): string | undefined {
  return metadata.annotations?.[simulatePrefix + name]
}

function keyOf({ namespace, name }: { namespace?: string; name: string }, what: string): string {
  return `${namespace}/${name}/${what}`
}

function set(map: Map<string, number>, key: string, value: number | '' | undefined): void {
  if (value === undefined || value === '') map.delete(key)
  else map.set(key, value)
}
