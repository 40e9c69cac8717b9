// SPDX-License-Identifier: Apache-2.0

// Controller metrics under the names of controller-runtime, which dashboards know.
import { counter, gauge, histogram, type Registry } from '../metrics/index.ts'

const secondsBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5,
  1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]

/** The label `result` of a reconcile. */
export type ReconcileOutcome = 'success' | 'requeue_after' | 'error'
const outcomes: readonly ReconcileOutcome[] = ['success', 'requeue_after', 'error']

export interface ControllerMetrics {
  started(): void
  ended(outcome: ReconcileOutcome | 'stopped', tookMs: number): void
  panicked(): void
}

export function controllerMetrics(
  registry: Registry,
  controller: string,
  workers: number,
): ControllerMetrics {
  const labelNames = ['controller'] as const
  const total = counter(registry, {
    name: 'controller_runtime_reconcile_total',
    help: 'Total number of reconciliations per controller',
    labelNames: ['controller', 'result'] as const,
  })
  const errors = counter(registry, {
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Total number of reconciliation errors per controller',
    labelNames,
  })
  const terminal = counter(registry, {
    name: 'controller_runtime_terminal_reconcile_errors_total',
    help: 'Total number of terminal reconciliation errors per controller',
    labelNames,
  })
  const panics = counter(registry, {
    name: 'controller_runtime_reconcile_panics_total',
    help: 'Total number of reconciliation panics per controller',
    labelNames,
  })
  const time = histogram(registry, {
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Length of time per reconciliation per controller',
    labelNames,
    buckets: secondsBuckets,
  })
  const active = gauge(registry, {
    name: 'controller_runtime_active_workers',
    help: 'Number of currently used workers per controller',
    labelNames,
  })
  const most = gauge(registry, {
    name: 'controller_runtime_max_concurrent_reconciles',
    help: 'Maximum number of concurrent reconciles per controller',
    labelNames,
  })
  // A counter that is absent until its first failure cannot be alerted on. No reconcile here ends with a terminal
  // error, so that counter stays 0.
  for (const result of outcomes) total.inc({ controller, result }, 0)
  for (const metric of [errors, terminal, panics]) metric.inc({ controller }, 0)
  active.set({ controller }, 0)
  most.set({ controller }, workers)
  return {
    started: () => active.inc({ controller }),
    ended: (outcome, tookMs) => {
      active.dec({ controller })
      time.observe({ controller }, tookMs / 1000)
      if (outcome === 'stopped') return
      total.inc({ controller, result: outcome })
      if (outcome === 'error') errors.inc({ controller })
    },
    panicked: () => panics.inc({ controller }),
  }
}
