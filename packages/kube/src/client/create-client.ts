// SPDX-License-Identifier: Apache-2.0

import { arch, platform } from 'node:process'
import { type Clock, systemClock } from '../clock/index.ts'
import { ApiClient } from './api-client.ts'
import type { Client } from './client.ts'
import type { ClusterConfig } from './cluster-config.ts'
import { createConnector } from './connector.ts'
import type { Credentials } from './credentials.ts'
import type { RequestDescription } from './error.ts'
import { HttpTransport } from './http-transport.ts'
import type { RateLimit } from './rate-limit.ts'
import { RequestLimiter } from './request-limiter.ts'
import { Requester, type RequestReport } from './requester.ts'
import { defaultRetryPolicy, type RetryPolicy } from './retry.ts'
import type { Transport } from './transport.ts'

/** Concurrent requests. More would only queue at the server: docs/performance.md has the curve. */
const defaultMaxInFlight = 64

/** Connections reserved for urgent requests, which do not wait for others. */
const connectionsForUrgent = 4

/** The API server itself gives up after a minute, so a longer wait is pointless. */
const defaultTimeoutMs = 60_000

export interface ClientOptions {
  /** `name/version` for the server's logs and for managedFields. */
  readonly userAgent?: string
  /** Default field manager of writes. If unset, the server uses the name of the user agent. */
  readonly fieldManager?: string
  /** Default of requests that do not set `managedFields`: true. */
  readonly managedFields?: boolean
  readonly maxInFlight?: number
  /** No limit by default, because the server's priority and fairness knows its load. */
  readonly rateLimit?: RateLimit
  /** Longest silence of the server during one attempt. */
  readonly timeoutMs?: number
  readonly retry?: Partial<RetryPolicy>
  /** Called after each HTTP request, for metrics. Must not throw. */
  readonly onRequest?: (report: RequestReport) => void
  /** Called for each warning of the server. Must not throw. */
  readonly onWarning?: (text: string, request: RequestDescription) => void
  readonly clock?: Clock
  /** Between 0 and 1; for jitter and for generated names. */
  readonly random?: () => number
}

export interface ConnectionOptions {
  readonly http2?: boolean
  readonly connectTimeoutMs?: number
}

/** Creates a client for a cluster. Opens no connection before the first request. */
export function createClient(config: ClusterConfig, options: ClientOptions & ConnectionOptions = {}): Client {
  const transport = createTransport(config, options)
  return createClientOn(transport, { ...options, credentials: config.credentials })
}

/** Creates the connections of such a client, for wrappers: `createClientOn(wrap(createTransport(config)), …)`. */
export function createTransport(
  config: ClusterConfig,
  options: ConnectionOptions & Pick<ClientOptions, 'maxInFlight'> = {},
): Transport {
  const transport = new HttpTransport({
    server: config.server,
    connect: createConnector(config, options),
    maxConnections: (options.maxInFlight ?? defaultMaxInFlight) + connectionsForUrgent,
    http2: options.http2,
  })
  config.onCertificateChange?.(() => transport.renewConnections())
  return transport
}

/** Creates a client over any transport, for example without sockets or for a test. */
export function createClientOn(
  transport: Transport,
  options: ClientOptions & { readonly credentials?: Credentials } = {},
): Client {
  const clock = options.clock ?? systemClock
  const random = options.random ?? Math.random
  const maxInFlight = options.maxInFlight ?? defaultMaxInFlight
  const requester = new Requester({
    transport,
    credentials: options.credentials,
    limiter: new RequestLimiter({ clock, maxInFlight, rateLimit: options.rateLimit }),
    clock,
    random,
    retry: { ...defaultRetryPolicy, ...options.retry },
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
    headers: {
      accept: 'application/json',
      'user-agent': options.userAgent ?? `kube-typescript/0.1 (${platform}/${arch})`,
    },
    onRequest: options.onRequest,
    onWarning: options.onWarning,
  })
  return new ApiClient({
    requester,
    fieldManager: options.fieldManager,
    managedFields: options.managedFields ?? true,
    random,
    close: () => transport.close(),
  })
}
