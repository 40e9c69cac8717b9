// SPDX-License-Identifier: Apache-2.0

// Webhook metrics under the names of controller-runtime, which dashboards know.
import { counter, gauge, histogram, type Registry, webhookCatalogue } from '../metrics/index.ts'

export interface WebhookMetrics {
  /** A path is served: its counters exist from then on. */
  registered(webhook: string): void
  started(webhook: string): void
  ended(webhook: string, code: number, tookMs: number): void
  panicked(): void
}

export function webhookMetrics(registry: Registry): WebhookMetrics {
  const total = counter(registry, webhookCatalogue.requests)
  const inFlight = gauge(registry, webhookCatalogue.inFlight)
  const latency = histogram(registry, webhookCatalogue.latency)
  const panics = counter(registry, webhookCatalogue.panics)
  return {
    registered: webhook => {
      for (const code of ['200', '500']) total.inc({ webhook, code }, 0)
      inFlight.set({ webhook }, 0)
    },
    started: webhook => inFlight.inc({ webhook }),
    ended: (webhook, code, tookMs) => {
      inFlight.dec({ webhook })
      total.inc({ webhook, code: String(code) })
      latency.observe({ webhook }, tookMs / 1000)
    },
    panicked: () => panics.inc(),
  }
}
