// SPDX-License-Identifier: Apache-2.0

// Queue metrics under the names of controller-runtime, which dashboards know.
import { counter, gauge, histogram, onCollect, type Registry } from '../metrics/index.ts'

/** Ten nanoseconds to a thousand seconds, a bucket per power of ten. */
const durationBuckets = Array.from({ length: 12 }, (_, power) => 1e-8 * 10 ** power)
const labelNames = ['name', 'controller'] as const

/** The source of the gauges, read on each scrape. */
export interface QueueReadings {
  depth(): number
  /** Seconds since the start of each key that is being processed. */
  runningSeconds(): Iterable<number>
}

export class QueueMetrics {
  readonly #labels: { readonly name: string; readonly controller: string }
  readonly #adds
  readonly #retries
  readonly #queueDuration
  readonly #workDuration
  readonly #stop: (() => void)[]

  constructor(registry: Registry, name: string, readings: QueueReadings) {
    const labels = { name, controller: name }
    this.#labels = labels
    this.#adds = counter(registry, {
      name: 'workqueue_adds_total',
      help: 'Total number of adds handled by workqueue',
      labelNames,
    })
    this.#retries = counter(registry, {
      name: 'workqueue_retries_total',
      help: 'Total number of retries handled by workqueue',
      labelNames,
    })
    this.#queueDuration = histogram(registry, {
      name: 'workqueue_queue_duration_seconds',
      help: 'How long in seconds an item stays in workqueue before being requested',
      labelNames,
      buckets: durationBuckets,
    })
    this.#workDuration = histogram(registry, {
      name: 'workqueue_work_duration_seconds',
      help: 'How long in seconds processing an item from workqueue takes.',
      labelNames,
      buckets: durationBuckets,
    })
    const depth = gauge(registry, { name: 'workqueue_depth', help: 'Current depth of workqueue', labelNames })
    const unfinished = gauge(registry, {
      name: 'workqueue_unfinished_work_seconds',
      help: 'How many seconds of work has been done that is in progress and is not yet in work_duration. Large values indicate stuck workers.',
      labelNames,
    })
    const longest = gauge(registry, {
      name: 'workqueue_longest_running_processor_seconds',
      help: 'How many seconds has the longest running processor for workqueue been running.',
      labelNames,
    })
    this.#stop = [
      onCollect(depth, () => depth.set(labels, readings.depth())),
      onCollect(unfinished, () => unfinished.set(labels, sum(readings.runningSeconds()))),
      onCollect(longest, () => longest.set(labels, Math.max(0, ...readings.runningSeconds()))),
    ]
    this.#adds.inc(labels, 0)
    this.#retries.inc(labels, 0)
  }

  added(): void {
    this.#adds.inc(this.#labels)
  }

  retried(): void {
    this.#retries.inc(this.#labels)
  }

  taken(waitedMs: number): void {
    this.#queueDuration.observe(this.#labels, waitedMs / 1000)
  }

  finished(workedMs: number): void {
    this.#workDuration.observe(this.#labels, workedMs / 1000)
  }

  /** Detaches the gauges from a stopped queue. */
  detach(): void {
    for (const stop of this.#stop) stop()
  }
}

function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}
