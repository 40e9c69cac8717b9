// SPDX-License-Identifier: Apache-2.0

import type { buildConnector, Dispatcher } from 'undici'
import { Connections } from './connections.ts'
import { BufferedResponse, StreamedResponse, throwIfAborted } from './http-response.ts'
import type { Transport, TransportRequest, TransportResponse, TransportStream } from './transport.ts'

export interface HttpTransportOptions {
  /** Scheme, host and port; a path becomes the prefix of every request. */
  readonly server: string
  /** Opens a connection with the newest certificates. */
  readonly connect: buildConnector.connector
  /** Maximum number of connections for requests; each stream has an additional one. */
  readonly maxConnections: number
  /** One connection for all requests instead of one for each request in flight. */
  readonly http2?: boolean
}

/**
 * Keep-alive time of idle connections. It is shorter than the 90 s of the API server, so that the client closes first
 * and no request meets a closing connection.
 */
const keepAliveMs = 75_000

/** Concurrent streams on one HTTP/2 connection; the server allows 100 to 250. */
const http2Streams = 100

/**
 * The transport over sockets: kept-alive connections for requests, and separate ones for streams. Not promised: that
 * a request cut in the middle was not carried out; `sent` is false only if no byte of it was sent.
 */
export class HttpTransport implements Transport {
  readonly #options: HttpTransportOptions
  readonly #basePath: string
  #requests: Connections
  #streams: Connections

  constructor(options: HttpTransportOptions) {
    this.#options = options
    this.#basePath = new URL(options.server).pathname.replace(/\/$/, '')
    this.#requests = connections(options, options.maxConnections)
    this.#streams = connections(options, Number.POSITIVE_INFINITY)
  }

  /** New requests get new connections; requests in flight finish on theirs. For a changed client certificate. */
  renewConnections(): void {
    const old = [this.#requests, this.#streams]
    this.#requests = connections(this.#options, this.#options.maxConnections)
    this.#streams = connections(this.#options, Number.POSITIVE_INFINITY)
    // The requests of these connections report their own failures.
    for (const each of old) each.close().catch(() => {})
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    throwIfAborted(request.signal)
    return new Promise((resolve, reject) => {
      this.#requests.dispatch(
        this.#dispatchOptions(request),
        new BufferedResponse(request.signal, resolve, reject),
      )
    })
  }

  async stream(request: TransportRequest): Promise<TransportStream> {
    throwIfAborted(request.signal)
    return new Promise((resolve, reject) => {
      this.#streams.dispatch(
        this.#dispatchOptions(request),
        new StreamedResponse(request.signal, resolve, reject),
      )
    })
  }

  async close(): Promise<void> {
    await Promise.all([this.#requests.close(), this.#streams.close()])
  }

  #dispatchOptions(request: TransportRequest): Dispatcher.DispatchOptions {
    return {
      method: request.method,
      path: this.#basePath + request.path,
      headers: request.headers as Record<string, string | string[]>,
      body: request.body,
      headersTimeout: request.responseTimeoutMs ?? request.timeoutMs,
      bodyTimeout: request.timeoutMs,
    }
  }
}

function connections(options: HttpTransportOptions, most: number): Connections {
  const { server, connect, http2 = false } = options
  return new Connections({
    origin: new URL(server).origin,
    settings: {
      connect,
      allowH2: http2,
      maxConcurrentStreams: http2Streams,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
    },
    // One HTTP/2 connection carries all requests. Streams may exceed the limit of one connection.
    maxConnections: http2 && most < Number.POSITIVE_INFINITY ? 1 : most,
    slotsPerConnection: http2 ? http2Streams : 1,
  })
}
