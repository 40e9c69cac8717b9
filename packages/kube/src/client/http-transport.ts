// SPDX-License-Identifier: Apache-2.0

import type { buildConnector, Dispatcher } from 'undici'
import { Connections } from './connections.ts'
import { refuseAborted, StreamedAnswer, WholeAnswer } from './http-answer.ts'
import type { Transport, TransportRequest, TransportResponse, TransportStream } from './transport.ts'

export interface HttpTransportOptions {
  /** Scheme, host and port; a path is put before every request's. */
  readonly server: string
  /** Opens a connection with the newest certificates. */
  readonly connect: buildConnector.connector
  /** Connections for requests at most; each stream has one more of its own. */
  readonly maxConnections: number
  /** One connection for all requests instead of one for each that is in flight. */
  readonly http2?: boolean
}

/** Idle connections are kept this long: less than the 90 s after which the API server closes them, so that it is we
 * who close and no request meets a connection that is just being closed. */
const keepAliveMs = 75_000

/** Concurrent streams on one HTTP/2 connection; the server allows 100 to 250. */
const http2Streams = 100

/**
 * The transport over sockets: kept-alive connections for requests, and others for streams, so that neither takes the
 * other's place. Not promised: that a request cut in the middle was not carried out; `sent` is false only
 * when no byte of it left.
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

  /** New requests get new connections, those in flight finish on theirs: for another client certificate. */
  renewConnections(): void {
    const old = [this.#requests, this.#streams]
    this.#requests = connections(this.#options, this.#options.maxConnections)
    this.#streams = connections(this.#options, Number.POSITIVE_INFINITY)
    // Whatever ends their requests also ends them; there is nobody left to tell.
    for (const each of old) each.close().catch(() => {})
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    refuseAborted(request.signal)
    return new Promise((resolve, reject) => {
      this.#requests.dispatch(
        this.#dispatchOptions(request),
        new WholeAnswer(request.signal, resolve, reject),
      )
    })
  }

  async stream(request: TransportRequest): Promise<TransportStream> {
    refuseAborted(request.signal)
    return new Promise((resolve, reject) => {
      this.#streams.dispatch(
        this.#dispatchOptions(request),
        new StreamedAnswer(request.signal, resolve, reject),
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
      headersTimeout: request.answerTimeoutMs ?? request.timeoutMs,
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
    // One HTTP/2 connection carries all requests; streams may be more than one carries.
    most: http2 && most < Number.POSITIVE_INFINITY ? 1 : most,
    places: http2 ? http2Streams : 1,
  })
}
