// SPDX-License-Identifier: Apache-2.0

// Webhook metrics under the names of controller-runtime, which dashboards know.
import { counter, gauge, histogram, type Registry } from '../metrics/index.ts'

export interface WebhookMetrics {
  /** A path is served: its counters exist from then on. */
  registered(webhook: string): void
  started(webhook: string): void
  ended(webhook: string, code: number, tookMs: number): void
  panicked(): void
}

export function webhookMetrics(registry: Registry): WebhookMetrics {
  const total = counter(registry, {
    name: 'controller_runtime_webhook_requests_total',
    help: 'Total number of admission requests by HTTP status code.',
    labelNames: ['webhook', 'code'] as const,
  })
  const inFlight = gauge(registry, {
    name: 'controller_runtime_webhook_requests_in_flight',
    help: 'Current number of admission requests being served.',
    labelNames: ['webhook'] as const,
  })
  const latency = histogram(registry, {
    name: 'controller_runtime_webhook_latency_seconds',
    help: 'Histogram of the latency of processing admission requests',
    labelNames: ['webhook'] as const,
  })
  const panics = counter(registry, {
    name: 'controller_runtime_webhook_panics_total',
    help: 'Total number of webhook panics',
  })
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
