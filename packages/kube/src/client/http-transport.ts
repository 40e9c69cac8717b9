// SPDX-License-Identifier: Apache-2.0

import { type buildConnector, type Dispatcher, errors, Pool } from 'undici'
import {
  type Transport,
  TransportError,
  type TransportHeaders,
  type TransportRequest,
  type TransportResponse,
  type TransportStream,
} from './transport.ts'

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

/** Concurrent streams that undici puts on one HTTP/2 connection; the server allows 100 to 250. */
const http2Streams = 100

/**
 * The transport over sockets: one pool of kept-alive connections for requests, and one for streams, so that neither
 * takes the other's place. Not promised: that a request cut in the middle was not carried out; `sent` is false only
 * when no byte of it left.
 */
export class HttpTransport implements Transport {
  readonly #options: HttpTransportOptions
  readonly #basePath: string
  #requests: Pool
  #streams: Pool

  constructor(options: HttpTransportOptions) {
    this.#options = options
    this.#basePath = new URL(options.server).pathname.replace(/\/$/, '')
    this.#requests = openPool(options, options.maxConnections)
    this.#streams = openPool(options, null)
  }

  /** New requests get new connections, those in flight finish on theirs: for another client certificate. */
  renewConnections(): void {
    const old = [this.#requests, this.#streams]
    this.#requests = openPool(this.#options, this.#options.maxConnections)
    this.#streams = openPool(this.#options, null)
    // Whatever ends their requests also ends them; there is nobody left to tell.
    for (const pool of old) pool.close().catch(() => {})
  }

  request(request: TransportRequest): Promise<TransportResponse> {
    return new Promise((resolve, reject) => {
      this.#requests.dispatch(
        this.#dispatchOptions(request),
        new WholeAnswer(request.signal, resolve, reject),
      )
    })
  }

  stream(request: TransportRequest): Promise<TransportStream> {
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

function openPool(options: HttpTransportOptions, connections: number | null): Pool {
  return new Pool(new URL(options.server).origin, {
    connect: options.connect,
    // Streams may be more than one HTTP/2 connection carries.
    connections: options.http2 && connections !== null ? 1 : connections,
    pipelining: options.http2 ? http2Streams : 1,
    allowH2: options.http2 ?? false,
    maxConcurrentStreams: http2Streams,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
  })
}

/** What both kinds of answers share: whether the request went out, being aborted, and failing in one way. */
abstract class Answer implements Dispatcher.DispatchHandler {
  protected status = 0
  protected headers: TransportHeaders = {}
  protected controller: Dispatcher.DispatchController | undefined
  #signal: AbortSignal | undefined
  #abort: (() => void) | undefined
  #sent = false

  constructor(signal: AbortSignal | undefined) {
    if (!signal) return
    this.#signal = signal
    this.#abort = () => this.abort()
    signal.addEventListener('abort', this.#abort, { once: true })
  }

  /** The error reaches whoever waits for this answer; called at most once. */
  protected abstract fail(error: TransportError): void

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    if (this.#signal?.aborted) controller.abort(abortReason(this.#signal))
    else this.#sent = true
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: TransportHeaders): void {
    this.status = status
    this.headers = headers
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    this.release()
    this.fail(this.#describe(error))
  }

  protected release(): void {
    if (this.#abort) this.#signal?.removeEventListener('abort', this.#abort)
    this.#abort = undefined
  }

  protected abort(): void {
    const reason = abortReason(this.#signal)
    // A request that still waits for a connection has no controller; it is dropped when its turn comes.
    if (this.controller) this.controller.abort(reason)
    else this.onResponseError(undefined, reason)
  }

  #describe(error: Error): TransportError {
    if (this.#signal?.aborted) return new TransportError('aborted', this.#sent, 'aborted', error)
    const timeout = error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError
    if (timeout) return new TransportError('timeout', this.#sent, 'the server did not answer in time', error)
    return new TransportError('network', this.#sent, messageOf(error), error)
  }
}

class WholeAnswer extends Answer {
  #chunks: Buffer[] = []
  readonly #resolve: (response: TransportResponse) => void
  readonly #reject: (error: TransportError) => void

  constructor(
    signal: AbortSignal | undefined,
    resolve: (response: TransportResponse) => void,
    reject: (error: TransportError) => void,
  ) {
    super(signal)
    this.#resolve = resolve
    this.#reject = reject
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    this.release()
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    this.#resolve({ status: this.status, headers: this.headers, body })
  }

  protected override fail(error: TransportError): void {
    this.#reject(error)
  }
}

/** Bytes of a stream that nobody has read yet before its connection is told to wait. */
const streamBufferBytes = 1024 * 1024

class StreamedAnswer extends Answer {
  readonly #resolve: (stream: TransportStream) => void
  readonly #reject: (error: TransportError) => void
  #started = false
  #chunks: Buffer[] = []
  #bufferedBytes = 0
  #ended = false
  #error: TransportError | undefined
  #wake: (() => void) | undefined

  constructor(
    signal: AbortSignal | undefined,
    resolve: (stream: TransportStream) => void,
    reject: (error: TransportError) => void,
  ) {
    super(signal)
    this.#resolve = resolve
    this.#reject = reject
  }

  override onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: TransportHeaders,
  ): void {
    super.onResponseStart(controller, status, headers)
    if (status < 200) return
    this.#started = true
    this.#resolve({ status, headers, body: this.#read() })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bufferedBytes += chunk.length
    if (this.#bufferedBytes > streamBufferBytes) controller.pause()
    this.#wake?.()
  }

  onResponseEnd(): void {
    this.release()
    this.#ended = true
    this.#wake?.()
  }

  protected override fail(error: TransportError): void {
    this.#ended = true
    this.#error ??= error
    if (this.#started) this.#wake?.()
    else this.#reject(error)
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    try {
      while (true) {
        const chunks = this.#chunks
        this.#chunks = []
        this.#bufferedBytes = 0
        if (this.controller?.paused) this.controller.resume()
        yield* chunks
        if (this.#chunks.length > 0) continue
        if (this.#error) throw this.#error
        if (this.#ended) return
        await new Promise<void>(resolve => {
          this.#wake = resolve
        })
        this.#wake = undefined
      }
    } finally {
      if (!this.#ended) this.controller?.abort(new Error('the reader of the stream has left'))
    }
  }
}

function abortReason(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error(`aborted: ${String(signal?.reason)}`)
}

/** Node reports a host with several addresses as one error without a text of its own. */
function messageOf(error: Error): string {
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.map(each => (each instanceof Error ? each.message : String(each))).join('; ')
  return error.message || String((error as NodeJS.ErrnoException).code ?? error)
}
