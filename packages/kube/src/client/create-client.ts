// SPDX-License-Identifier: Apache-2.0

import { arch, platform } from 'node:process'
import { type Clock, systemClock } from '../clock/index.ts'
import { ApiClient } from './api-client.ts'
import type { Client } from './client.ts'
import type { ClusterConfig } from './cluster-config.ts'
import { createConnector } from './connector.ts'
import type { Credentials } from './credentials.ts'
import type { RequestDescription } from './error.ts'
import { Gate } from './gate.ts'
import { HttpTransport } from './http-transport.ts'
import type { RateLimit } from './rate-limit.ts'
import { Requester, type RequestReport } from './requester.ts'
import { defaultRetryPolicy, type RetryPolicy } from './retry.ts'
import type { Transport } from './transport.ts'

/** Requests under way at once. More only queues at the server: docs/performance.md has the curve. */
export const defaultMaxInFlight = 64

/** Urgent requests do not wait for others; these are theirs when all others are taken. */
const connectionsForUrgent = 4

/** The API server itself gives up after a minute; waiting longer would wait for nobody. */
export const defaultTimeoutMs = 60_000

export interface ClientOptions {
  /** Who we are, for the server's logs and for managedFields: `name/version`. */
  readonly userAgent?: string
  /** Who owns the fields that are written, where a request does not say; the server takes the user agent's name. */
  readonly fieldManager?: string
  /** Whether objects are returned with metadata.managedFields, where a request does not say; true unless told. */
  readonly managedFields?: boolean
  readonly maxInFlight?: number
  /** No limit unless told: the server's own priority and fairness is the better judge. */
  readonly rateLimit?: RateLimit
  /** Longest silence of the server during one attempt. */
  readonly timeoutMs?: number
  readonly retry?: Partial<RetryPolicy>
  /** Called after each HTTP request, for metrics. Must not throw. */
  readonly onRequest?: (report: RequestReport) => void
  /** Called for each warning that the server sent. Must not throw. */
  readonly onWarning?: (text: string, request: RequestDescription) => void
  readonly clock?: Clock
  /** Between 0 and 1; for jitter and for generated names. */
  readonly random?: () => number
}

export interface ConnectionOptions {
  readonly http2?: boolean
  readonly connectTimeoutMs?: number
}

/** A client of the cluster that the configuration names. Opens nothing before the first request. */
export function createClient(config: ClusterConfig, options: ClientOptions & ConnectionOptions = {}): Client {
  const transport = createTransport(config, options)
  return createClientOn(transport, { ...options, credentials: config.credentials })
}

/** The connections of such a client, for one that wraps them: `createClientOn(wrap(createTransport(config)), …)`. */
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

/** A client over any transport: one without sockets, or one that a test wrote. */
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
    gate: new Gate({ clock, maxInFlight, rateLimit: options.rateLimit }),
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
