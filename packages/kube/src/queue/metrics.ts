// SPDX-License-Identifier: Apache-2.0

// Queue metrics under the names of controller-runtime, which dashboards know.
import { counter, gauge, histogram, onCollect, queueCatalogue, type Registry } from '../metrics/index.ts'

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
    this.#adds = counter(registry, queueCatalogue.adds)
    this.#retries = counter(registry, queueCatalogue.retries)
    this.#queueDuration = histogram(registry, queueCatalogue.queueDuration)
    this.#workDuration = histogram(registry, queueCatalogue.workDuration)
    const depth = gauge(registry, queueCatalogue.depth)
    const unfinished = gauge(registry, queueCatalogue.unfinished)
    const longest = gauge(registry, queueCatalogue.longestRunning)
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
