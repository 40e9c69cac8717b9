// SPDX-License-Identifier: Apache-2.0

import type { Logger, LogLevels } from '../log/index.ts'
import type { Registry } from '../metrics/index.ts'
import type { AccessCheck } from './access.ts'
import { type EndpointAddress, HttpEndpoint } from './endpoint.ts'
import { logLevelPath, logLevelResponse } from './log-level.ts'

export interface MetricsEndpointOptions extends EndpointAddress {
  /** Without it, every client that reaches the port may read. */
  readonly access?: AccessCheck
  /** Served only with an access check, because debug lines of every request fill a disk. */
  readonly logLevels?: LogLevels
}

/** `/metrics` in the Prometheus text format, and the log levels. */
export function metricsEndpoint(
  options: MetricsEndpointOptions,
  registry: Registry,
  log?: Logger,
): HttpEndpoint {
  return new HttpEndpoint(
    'metrics',
    options,
    async (url, request) => {
      const levels = options.access && url.pathname === logLevelPath ? options.logLevels : undefined
      if (url.pathname !== '/metrics' && !levels) return undefined
      const rejection = await options.access?.(request, url)
      if (rejection) return rejection
      if (levels) return logLevelResponse(levels, request.method ?? 'GET', url, log)
      return {
        status: 200,
        body: await registry.metrics(),
        headers: { 'content-type': registry.contentType },
      }
    },
    log,
  )
}
