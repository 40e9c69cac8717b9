// SPDX-License-Identifier: Apache-2.0

// Metrics of the API client, under the names of client-go.
import type { RequestReport } from '../client/index.ts'
import { counter, histogram, type Registry } from './registry.ts'

const methodOfVerb: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  apply: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
}
/** The code that client-go writes if there was no response. */
const noResponse = '<error>'
/** The duration of a watch is independent of the server's speed. */
const unmeasured = 'watch'

/** For the client's option `onRequest`. */
export function requestMetrics(registry: Registry, server: string): (report: RequestReport) => void {
  const { host } = new URL(server)
  const total = counter(registry, {
    name: 'rest_client_requests_total',
    help: 'Number of HTTP requests, partitioned by status code, method, and host.',
    labelNames: ['code', 'method', 'host'] as const,
  })
  const duration = histogram(registry, {
    name: 'rest_client_request_duration_seconds',
    help: 'Request latency in seconds. Broken down by verb, and resource.',
    labelNames: ['verb', 'resource'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  })
  return ({ verb, resource, status, seconds }) => {
    const method = methodOfVerb[verb] ?? verb.toUpperCase()
    total.inc({ code: status === 0 ? noResponse : String(status), method, host })
    if (verb !== unmeasured) duration.observe({ verb, resource }, seconds)
  }
}
