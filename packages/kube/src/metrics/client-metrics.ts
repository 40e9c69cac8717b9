// SPDX-License-Identifier: Apache-2.0

// Metrics of the API client, under the names of client-go.
import type { RequestReport } from '../client/index.ts'
import { clientCatalogue } from './catalogue.ts'
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
  const total = counter(registry, clientCatalogue.requests)
  const duration = histogram(registry, clientCatalogue.duration)
  const byResource = counter(registry, clientCatalogue.requestsByResource)
  return ({ verb, resource, status, seconds }) => {
    const method = methodOfVerb[verb] ?? verb.toUpperCase()
    const code = status === 0 ? noResponse : String(status)
    total.inc({ code, method, host })
    byResource.inc({ verb, resource, code })
    if (verb !== unmeasured) duration.observe({ verb, resource }, seconds)
  }
}
