// SPDX-License-Identifier: Apache-2.0

import type { Logger } from '../log/index.ts'
import type { Registry } from '../metrics/index.ts'
import type { AccessCheck } from './access.ts'
import { type EndpointAddress, HttpEndpoint } from './endpoint.ts'

export interface MetricsEndpointOptions extends EndpointAddress {
  /** Without it, every client that reaches the port may read. */
  readonly access?: AccessCheck
}

/** `/metrics` in the Prometheus text format. */
export function metricsEndpoint(
  options: MetricsEndpointOptions,
  registry: Registry,
  log?: Logger,
): HttpEndpoint {
  return new HttpEndpoint(
    'metrics',
    options,
    async (url, request) => {
      if (url.pathname !== '/metrics') return undefined
      const rejection = await options.access?.(request, url)
      if (rejection) return rejection
      return {
        status: 200,
        body: await registry.metrics(),
        headers: { 'content-type': registry.contentType },
      }
    },
    log,
  )
}
