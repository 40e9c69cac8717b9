// SPDX-License-Identifier: Apache-2.0

// Serves admission webhooks over TLS 1.2 or newer. Promises: a certificate that is replaced is presented to the next
// connection while those that are open go on; until there is a certificate the server waits and says so; a handler that
// throws, hangs or is sent nonsense costs one answer and nothing else. Not promised: HTTP/2, client certificates.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:tls'
import type { CertificateSource, KeyPair } from '../certificates/index.ts'
import type { Clock } from '../clock/index.ts'
import { type Logger, messageOf, silentLogger } from '../log/index.ts'
import type { Registry } from '../metrics/index.ts'
import { type AdmissionResponse, errored } from './admission.ts'
import { type WebhookMetrics, webhookMetrics } from './metrics.ts'
import { type AdmissionHandler, answerReview, type ReviewBody, reviewLimitBytes } from './review.ts'

/** Longer than API servers keep idle connections (90 s): it is they who close, and no request meets a closing one. */
const keepAliveTimeoutMs = 120_000
/** From the first byte of a request to its last: the API allows no webhook more than this. */
const requestTimeoutMs = 30_000
/** What API servers give a webhook unless its configuration says otherwise. */
const defaultAdmissionTimeoutMs = 10_000
/** How long open requests may take when the server stops. */
const stopTimeoutMs = 5_000
const checkTimeoutMs = 10_000
const tlsOptions = { minVersion: 'TLSv1.2' as const }

export interface WebhookServerOptions {
  readonly host?: string
  /** 0 takes any free port. */
  readonly port: number
  readonly certificates: CertificateSource
  readonly clock: Clock
  readonly log?: Logger
  readonly registry?: Registry
}

export class WebhookServer {
  readonly #options: WebhookServerOptions
  readonly #clock: Clock
  readonly #log: Logger
  readonly #metrics: WebhookMetrics | undefined
  readonly #handlers = new Map<string, AdmissionHandler>()
  #server: Server | undefined
  #stopping = false
  #unsubscribe = () => {}

  constructor(options: WebhookServerOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#log = options.log ?? silentLogger
    this.#metrics = options.registry && webhookMetrics(options.registry)
  }

  /** Serves a path. May be called before and after the start. */
  handle(path: string, handler: AdmissionHandler): void {
    if (this.#handlers.has(path)) throw new Error(`two webhooks for the path ${path}`)
    this.#handlers.set(path, handler)
    this.#metrics?.registered(path)
  }

  /** Where it listens; undefined while it does not. */
  get port(): number | undefined {
    return (this.#server?.address() as AddressInfo | null)?.port
  }

  /** Waits for a certificate, then listens. Rejects when it cannot listen or the signal comes first. */
  async start(signal: AbortSignal): Promise<void> {
    const { certificates, host, port } = this.#options
    const first = certificates.current() ?? (await this.#firstCertificate(signal))
    const server = createServer({ ...tlsOptions, ...first }, (request, response) => {
      this.#serve(request, response).catch(error => {
        this.#log.warn('A webhook request ended without an answer', { error })
        response.destroy()
      })
    })
    server.keepAliveTimeout = keepAliveTimeoutMs
    server.requestTimeout = requestTimeoutMs
    server.on('tlsClientError', error => this.#log.debug('A TLS connection failed', { error }))
    this.#unsubscribe = certificates.onChange(pair => this.#present(server, pair))
    // It may have been replaced between the two lines above.
    this.#present(server, certificates.current() ?? first)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, () => {
        server.off('error', reject)
        resolve()
      })
    })
    this.#server = server
    this.#log.info('Webhooks are served', { host, port: this.port })
  }

  /** Takes no further connection; requests that are open get their answer, for a bounded time. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#unsubscribe()
    const server = this.#server
    this.#server = undefined
    if (!server) return
    const timer = this.#clock.setTimeout(() => server.closeAllConnections(), stopTimeoutMs)
    await new Promise<void>(resolve => server.close(() => resolve()))
    timer.cancel()
  }

  /** For the readiness probe: whether a TLS connection can be made. Rejects with a sentence if not. */
  async check(): Promise<void> {
    const port = this.port
    if (port === undefined) throw new Error('webhook server has not been started yet')
    const host = this.#options.host
    await new Promise<void>((resolve, reject) => {
      // Our own port, and only whether it answers: nothing is sent over this connection.
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
    this.#log.info('Webhooks wait for a certificate')
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
      this.#log.error('A certificate cannot be used; the one before stays', { error })
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'https://webhook')
    const handler = this.#handlers.get(url.pathname)
    if (!handler) {
      request.resume()
      response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('404 page not found\n')
      return
    }
    const started = this.#clock.monotonic()
    this.#metrics?.started(url.pathname)
    let code = 500
    try {
      const body = await readReview(request)
      const answer = await this.#answer(body, handler, admissionTimeoutMs(url), url.pathname)
      code = 200
      if (this.#stopping || body.body === 'too-large') response.setHeader('connection', 'close')
      response.writeHead(code, { 'content-type': 'application/json' }).end(answer)
    } finally {
      this.#metrics?.ended(url.pathname, code, this.#clock.monotonic() - started)
    }
  }

  /** A handler that hangs must not hold the connection longer than anybody waits for it. */
  async #answer(
    body: ReviewBody,
    handler: AdmissionHandler,
    timeoutMs: number,
    path: string,
  ): Promise<string> {
    const over = new AbortController()
    const late = Promise.withResolvers<AdmissionResponse>()
    const timer = this.#clock.setTimeout(() => {
      const sentence = `no decision within ${timeoutMs} ms`
      over.abort(new Error(sentence))
      late.resolve(errored(504, sentence))
    }, timeoutMs)
    try {
      return await answerReview(
        body,
        (request, context) => Promise.race([handler(request, context), late.promise]),
        { signal: over.signal, log: this.#log.child({ webhook: path }) },
        () => this.#metrics?.panicked(),
      )
    } finally {
      timer.cancel()
    }
  }
}

async function readReview(request: IncomingMessage): Promise<ReviewBody> {
  const contentType = request.headers['content-type']
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size >= reviewLimitBytes) {
      // The rest is read and thrown away: who still writes would not see the answer.
      request.resume()
      return { contentType, body: 'too-large' }
    }
    chunks.push(chunk)
  }
  return { contentType, body: Buffer.concat(chunks) }
}

/** API servers say how long they wait: `?timeout=10s`. */
function admissionTimeoutMs(url: URL): number {
  const [, amount, unit] = /^(\d+)(ms|s)$/.exec(url.searchParams.get('timeout') ?? '') ?? []
  if (!amount) return defaultAdmissionTimeoutMs
  return Math.min(requestTimeoutMs, Number(amount) * (unit === 's' ? 1_000 : 1))
}

function isAny(host: string | undefined): boolean {
  return host === undefined || host === '' || host === '0.0.0.0' || host === '::'
}
