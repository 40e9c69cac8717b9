// SPDX-License-Identifier: Apache-2.0

// Controller metrics under the names of controller-runtime, which dashboards know.
import { controllerCatalogue, counter, gauge, histogram, type Registry } from '../metrics/index.ts'

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
  const total = counter(registry, controllerCatalogue.reconciles)
  const errors = counter(registry, controllerCatalogue.errors)
  const terminal = counter(registry, controllerCatalogue.terminalErrors)
  const panics = counter(registry, controllerCatalogue.panics)
  const time = histogram(registry, controllerCatalogue.time)
  const active = gauge(registry, controllerCatalogue.activeWorkers)
  const most = gauge(registry, controllerCatalogue.workers)
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
