// SPDX-License-Identifier: Apache-2.0

// Serves admission webhooks over TLS 1.2 or newer. Promised: a replaced certificate is presented to new connections,
// while open ones continue. Without a certificate the server waits and reports that. A handler that throws, hangs or
// receives invalid input costs one response and nothing else. Not promised: HTTP/2, client certificates.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:tls'
import type { CertificateSource, KeyPair } from '../certificates/index.ts'
import type { Clock } from '../clock/index.ts'
import { type Logger, messageOf, silentLogger } from '../log/index.ts'
import type { Registry } from '../metrics/index.ts'
import { errored } from './admission.ts'
import { BodyBuffers } from './body-buffers.ts'
import {
  bufferedLimitBytes,
  connectionsCheckingIntervalMs,
  decisionMs,
  handshakeTimeoutMs,
  headersTimeoutMs,
  keepAliveTimeoutMs,
  maxConnections,
  Overloaded,
  requestTimeoutMs,
  retryAfterSeconds,
  reviewLimitBytes,
} from './limits.ts'
import { type WebhookMetrics, webhookMetrics } from './metrics.ts'
import { type AdmissionHandler, decideReview, type ReviewBody, undecidedReview } from './review.ts'

/** The time for open requests when the server stops. */
const stopTimeoutMs = 5_000
const checkTimeoutMs = 10_000
const tlsOptions = { minVersion: 'TLSv1.2' as const, handshakeTimeout: handshakeTimeoutMs }

/** Decides reviews given as bytes. Returns the response as JSON; throws `Overloaded` if there is no room. */
export type ReviewHandler = (
  review: ReviewBody,
  context: { readonly signal: AbortSignal; readonly timeoutMs: number; readonly onPanic: () => void },
) => Promise<string | Uint8Array>

export interface WebhookServerOptions {
  readonly host?: string
  /** 0 takes any free port. */
  readonly port: number
  readonly certificates: CertificateSource
  readonly clock: Clock
  readonly log?: Logger
  readonly registry?: Registry
  /** Smaller than usual in tests. */
  readonly limits?: Partial<ServerLimits>
}

/** Limits of client resources; `limits.ts` has the reasons. */
export interface ServerLimits {
  readonly maxConnections: number
  readonly bufferedBytes: number
  readonly requestTimeoutMs: number
  readonly headersTimeoutMs: number
  readonly connectionsCheckingIntervalMs: number
}

const usualLimits: ServerLimits = {
  maxConnections,
  bufferedBytes: bufferedLimitBytes,
  requestTimeoutMs,
  headersTimeoutMs,
  connectionsCheckingIntervalMs,
}

export class WebhookServer {
  readonly #options: WebhookServerOptions
  readonly #clock: Clock
  readonly #log: Logger
  readonly #metrics: WebhookMetrics | undefined
  readonly #handlers = new Map<string, ReviewHandler>()
  readonly #limits: ServerLimits
  readonly #bodies: BodyBuffers
  #server: Server | undefined
  #isDraining = false
  #unsubscribe = () => {}

  constructor(options: WebhookServerOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#log = options.log ?? silentLogger
    this.#metrics = options.registry && webhookMetrics(options.registry)
    this.#limits = { ...usualLimits, ...options.limits }
    this.#bodies = new BodyBuffers({
      bodyBytes: reviewLimitBytes,
      totalBytes: this.#limits.bufferedBytes,
    })
  }

  /** Serves a path by a handler that runs in this process. May be called before and after the start. */
  handle(path: string, handler: AdmissionHandler): void {
    const log = this.#log.child({ webhook: path })
    this.handleReviews(path, (review, { signal, onPanic }) =>
      decideReview(review, handler, { signal, log }, onPanic),
    )
  }

  /** Serves a path by a handler of bytes, for reviews that another process decides. */
  handleReviews(path: string, handler: ReviewHandler): void {
    if (this.#handlers.has(path)) throw new Error(`a webhook for the path ${path} is already registered`)
    this.#handlers.set(path, handler)
    this.#metrics?.registered(path)
  }

  /** The port; undefined while it does not listen. */
  get port(): number | undefined {
    return (this.#server?.address() as AddressInfo | null)?.port
  }

  /** Bytes of request bodies in memory now. */
  get bufferedBytes(): number {
    return this.#bodies.heldBytes
  }

  /** Waits for a certificate, then listens. Rejects if it cannot listen or the signal comes first. */
  async start(signal: AbortSignal): Promise<void> {
    const { certificates, host, port } = this.#options
    const first = certificates.current() ?? (await this.#firstCertificate(signal))
    const limits = {
      requestTimeout: this.#limits.requestTimeoutMs,
      headersTimeout: this.#limits.headersTimeoutMs,
      connectionsCheckingInterval: this.#limits.connectionsCheckingIntervalMs,
      keepAliveTimeout: keepAliveTimeoutMs,
    }
    const server = createServer({ ...tlsOptions, ...limits, ...first }, (request, response) => {
      this.#serve(request, response).catch(error => {
        // Closed client connections are normal and could fill the log.
        const level = request.socket.destroyed ? 'debug' : 'warn'
        this.#log[level]('Webhook request ended without a response', { error })
        response.destroy()
      })
    })
    server.maxConnections = this.#limits.maxConnections
    server.on('drop', () => this.#log.warn('Too many connections to the webhook server, one was closed'))
    server.on('tlsClientError', error => this.#log.debug('TLS connection failed', { error }))
    this.#unsubscribe = certificates.onChange(pair => this.#present(server, pair))
    // It may have been replaced between the two lines above.
    this.#present(server, certificates.current() ?? first)
    await new Promise<void>((resolve, reject) => {
      const fail = (error: Error) =>
        reject(new Error(`cannot serve webhooks: ${error.message}`, { cause: error }))
      server.once('error', fail)
      server.listen(port, host, () => {
        server.off('error', fail)
        resolve()
      })
    })
    this.#server = server
    this.#log.info('Serving webhooks', { host, port: this.port })
  }

  /**
   * Continues to serve, and closes each connection after its next response. A client that sends a request on a
   * connection while the server closes it cannot know whether the request was read, and API servers do not repeat it.
   * So the connections in use are closed before the server stops.
   */
  drain(): void {
    this.#isDraining = true
  }

  /** Accepts no further connection. Open requests get their response, for a bounded time. */
  async stop(): Promise<void> {
    this.drain()
    this.#unsubscribe()
    const server = this.#server
    this.#server = undefined
    if (!server) return
    const timer = this.#clock.setTimeout(() => server.closeAllConnections(), stopTimeoutMs)
    await new Promise<void>(resolve => server.close(() => resolve()))
    timer.cancel()
  }

  /** For the readiness probe: opens a TLS connection. Rejects with a sentence if that fails. */
  async check(): Promise<void> {
    const port = this.port
    if (port === undefined) throw new Error('webhook server has not been started yet')
    const host = this.#options.host
    await new Promise<void>((resolve, reject) => {
      // Connects to the server's own port without sending anything.
      const socket = connect({ host: isAny(host) ? 'localhost' : host, port, rejectUnauthorized: false })
      const fail = (error: Error) => {
        socket.destroy()
        reject(new Error(`webhook server is not reachable: ${messageOf(error)}`))
      }
      socket.setTimeout(checkTimeoutMs, () => fail(new Error('timed out')))
      socket.once('error', fail)
      socket.once('secureConnect', () => {
        socket.end()
        resolve()
      })
    })
  }

  #firstCertificate(signal: AbortSignal): Promise<KeyPair> {
    this.#log.info('Waiting for a certificate before serving webhooks')
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const unsubscribe = this.#options.certificates.onChange(pair => {
        unsubscribe()
        signal.removeEventListener('abort', abort)
        resolve(pair)
      })
      const abort = () => {
        unsubscribe()
        reject(signal.reason)
      }
      signal.addEventListener('abort', abort, { once: true })
    })
  }

  #present(server: Server, pair: KeyPair): void {
    try {
      server.setSecureContext({ ...tlsOptions, ...pair })
    } catch (error) {
      this.#log.error('Cannot use the new certificate; keeping the previous one', { error })
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = URL.parse(request.url ?? '/', 'https://webhook')
    const handler = url && this.#handlers.get(url.pathname)
    if (!handler) {
      request.resume()
      // No API server requests other paths, so the connection of such a client is closed.
      response
        .writeHead(404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
        .end('404 page not found\n')
      return
    }
    const started = this.#clock.monotonic()
    this.#metrics?.started(url.pathname)
    let code = 500
    try {
      const body = await this.#bodies.receive(request)
      try {
        const review = { contentType: request.headers['content-type'], body: body.bytes }
        const reply = await this.#decide(review, handler, decisionMs(url), response)
        code = 200
        if (this.#isDraining || body.bytes === 'too-large') response.setHeader('connection', 'close')
        response.writeHead(code, { 'content-type': 'application/json' }).end(reply)
      } finally {
        body.release()
      }
    } catch (error) {
      if (!(error instanceof Overloaded)) throw error
      code = 429
      response
        .writeHead(code, {
          'content-type': 'text/plain; charset=utf-8',
          'retry-after': String(retryAfterSeconds),
          connection: 'close',
        })
        .end(`${error.message}\n`)
    } finally {
      this.#metrics?.ended(url.pathname, code, this.#clock.monotonic() - started)
    }
  }

  /** A hanging handler must not occupy the connection longer than the API server waits. */
  async #decide(
    review: ReviewBody,
    handler: ReviewHandler,
    timeoutMs: number,
    response: ServerResponse,
  ): Promise<string | Uint8Array> {
    const over = new AbortController()
    const late = Promise.withResolvers<string>()
    const timer = this.#clock.setTimeout(() => {
      const sentence = `no decision within ${timeoutMs} ms`
      late.resolve(review.body === 'too-large' ? '' : undecidedReview(review.body, errored(504, sentence)))
      over.abort(new Error(sentence))
    }, timeoutMs)
    const closed = () => over.abort(new Error('the client closed the connection'))
    response.once('close', closed)
    try {
      const context = { signal: over.signal, timeoutMs, onPanic: () => this.#metrics?.panicked() }
      return await Promise.race([late.promise, handler(review, context)])
    } finally {
      timer.cancel()
      response.off('close', closed)
    }
  }
}

function isAny(host: string | undefined): boolean {
  return host === undefined || host === '' || host === '0.0.0.0' || host === '::'
}
