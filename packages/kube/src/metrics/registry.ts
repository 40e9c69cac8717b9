// SPDX-License-Identifier: Apache-2.0

// Metrics of one process. Every part creates its metrics by name. If the name exists, it gets the existing metric:
// two controllers share `workqueue_depth` and differ by label.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { MetricDescription } from './description.ts'

export { Counter, Gauge, Histogram, Registry }

/** Creates a registry with the metrics of the process itself: CPU, memory, event loop, garbage collection. */
export function createRegistry(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registry
}

/** The part of a description that a registry needs. */
type Configuration<Label extends string> = Pick<MetricDescription<Label>, 'name' | 'help'> &
  Partial<Pick<MetricDescription<Label>, 'labelNames' | 'buckets'>>

export function counter<Label extends string>(
  registry: Registry,
  configuration: Configuration<Label>,
): Counter<Label> {
  return shared(
    registry,
    configuration.name,
    () => new Counter({ ...textsOf(configuration), registers: [registry] }),
  )
}

export function gauge<Label extends string>(
  registry: Registry,
  configuration: Configuration<Label>,
): Gauge<Label> {
  return shared(registry, configuration.name, () => {
    const refreshers = new Set<() => void>()
    const created: Gauge<Label> = new Gauge({
      ...textsOf(configuration),
      registers: [registry],
      collect: () => {
        for (const refresh of refreshers) refresh()
      },
    })
    refreshersOf.set(created, refreshers)
    return created
  })
}

const refreshersOf = new WeakMap<object, Set<() => void>>()

/** Runs the callback each time a gauge of this registry is read. Returns a function that removes the callback. */
export function onCollect<Label extends string>(metric: Gauge<Label>, refresh: () => void): () => void {
  const refreshers = refreshersOf.get(metric)
  if (!refreshers) throw new Error('onCollect supports only gauges that gauge() created')
  refreshers.add(refresh)
  return () => refreshers.delete(refresh)
}

export function histogram<Label extends string>(
  registry: Registry,
  configuration: Configuration<Label>,
): Histogram<Label> {
  const { buckets } = configuration
  return shared(
    registry,
    configuration.name,
    () =>
      new Histogram({
        ...textsOf(configuration),
        ...(buckets && { buckets: [...buckets] }),
        registers: [registry],
      }),
  )
}

function textsOf<Label extends string>({ name, help, labelNames = [] }: Configuration<Label>) {
  return { name, help, labelNames }
}

function shared<Metric>(registry: Registry, name: string, create: () => Metric): Metric {
  return (registry.getSingleMetric(name) as Metric | undefined) ?? create()
}
