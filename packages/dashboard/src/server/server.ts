// SPDX-License-Identifier: Apache-2.0

// Serves the page, its documents as JSON, and the stream of changes. Promised: every request gets a response, a client
// can occupy bounded resources only, and nothing in the cluster can be changed. Not promised: authentication. The
// default address is loopback, and other addresses belong behind a proxy that authenticates.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, isIPv6 } from 'node:net'
import { type Clock, type Logger, silentLogger, systemClock, type Timer } from '@grove/kube'
import type { DashboardCaches } from '../caches/caches.ts'
import { assets } from '../page.generated.ts'
import { isAllowedHost, securityHeaders } from './headers.ts'
import {
  coalescedMs,
  headersTimeoutMs,
  keepAliveTimeoutMs,
  maxConnections,
  maxHeaderBytes,
  requestTimeoutMs,
} from './limits.ts'
import { Pages } from './pages.ts'
import { Streams } from './streams.ts'

export const defaultHost = '127.0.0.1'

export interface DashboardServerOptions {
  readonly caches: DashboardCaches
  readonly host?: string
  /** 0 takes any free port. */
  readonly port: number
  /** Host names of requests that are served in addition to localhost and addresses, such as that of a proxy. */
  readonly allowedHosts?: readonly string[]
  readonly clock?: Clock
  readonly log?: Logger
}

interface Reply {
  readonly status: number
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

export class DashboardServer {
  readonly #options: DashboardServerOptions
  readonly #clock: Clock
  readonly #log: Logger
  readonly #pages: Pages
  readonly #streams: Streams
  readonly #allowedHosts: ReadonlySet<string>
  #server: Server | undefined
  #revision = 1
  #publication: Timer | undefined

  constructor(options: DashboardServerOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#log = options.log ?? silentLogger
    this.#pages = new Pages(options.caches)
    this.#streams = new Streams(this.#clock, () => this.#publish())
    this.#allowedHosts = new Set((options.allowedHosts ?? []).map(name => name.toLowerCase()))
    options.caches.onChange(() => {
      this.#publication ??= this.#clock.setTimeout(() => this.#publish(), coalescedMs)
    })
  }

  /** Valid after the start. */
  get url(): string {
    const { host = defaultHost } = this.#options
    const port = (this.#server?.address() as AddressInfo | null)?.port ?? this.#options.port
    return `http://${isIPv6(host) ? `[${host}]` : host}:${port}/`
  }

  /** Rejects if it cannot listen. */
  async start(): Promise<void> {
    const { host = defaultHost, port } = this.#options
    const server = createServer(
      {
        maxHeaderSize: maxHeaderBytes,
        headersTimeout: headersTimeoutMs,
        requestTimeout: requestTimeoutMs,
        keepAliveTimeout: keepAliveTimeoutMs,
      },
      (request, response) => this.#serve(request, response),
    )
    server.maxConnections = maxConnections
    server.on('drop', () => this.#log.warn('Too many connections to the dashboard, one was closed'))
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, () => {
        server.off('error', reject)
        resolve()
      })
    })
    this.#server = server
  }

  /** Ends streams, lets other responses finish, and accepts no further connection. */
  async stop(): Promise<void> {
    this.#publication?.cancel()
    const server = this.#server
    this.#server = undefined
    if (!server) return
    const closed = new Promise<void>(resolve => server.close(() => resolve()))
    this.#streams.close()
    server.closeIdleConnections()
    const timer = this.#clock.setTimeout(() => server.closeAllConnections(), requestTimeoutMs)
    await closed
    timer.cancel()
  }

  #publish(): void {
    this.#publication?.cancel()
    this.#publication = undefined
    this.#revision++
    this.#pages.renew()
    this.#streams.publish(this.#revision)
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    response.on('error', () => {})
    // Bodies are never read. The server closes a connection that sends one, because the rest of the body would be
    // parsed as the next request.
    const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding']
    if (hasBody) response.setHeader('connection', 'close')
    let reply: Reply
    try {
      const path = pathOf(request)
      if (path === '/api/changes' && request.method === 'GET' && this.#isHostAllowed(request)) {
        if (this.#streams.add(response, securityHeaders, this.#revision)) return
        reply = failure(503, 'too many open pages; close some and reload', { 'retry-after': '10' })
      } else reply = this.#reply(request, path)
    } catch (error) {
      this.#log.error('Request failed', { path: request.url, error })
      reply = failure(500, 'internal server error; the log of the dashboard has the cause')
    }
    const { status, body, headers } = reply
    response.writeHead(status, {
      ...securityHeaders,
      ...headers,
      ...(status !== 304 && { 'content-length': String(Buffer.byteLength(body)) }),
    })
    response.end(request.method === 'HEAD' || status === 304 ? undefined : body)
  }

  #isHostAllowed(request: IncomingMessage): boolean {
    return isAllowedHost(request.headers.host, this.#allowedHosts)
  }

  #reply(request: IncomingMessage, path: string): Reply {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return failure(405, 'the dashboard is read-only: use GET or HEAD', { allow: 'GET, HEAD' })
    if (!this.#isHostAllowed(request))
      return failure(
        421,
        'this host name is not served; open the dashboard by its address or localhost, or add the name to --allowed-hosts',
      )
    const asset = assets[path]
    if (asset) return conditional(request, { status: 200, ...asset })
    const document = this.#pages.get(path)
    if (!document) return failure(404, `there is no ${path}`)
    const { status, body, etag } = document
    return conditional(request, { status, body, etag, type: 'application/json; charset=utf-8' })
  }
}

interface Content {
  readonly status: number
  readonly body: string
  readonly etag: string
  readonly type: string
}

/** Lets browsers reuse a cached document, because most changes do not concern the document that a page shows. */
function conditional(request: IncomingMessage, { status, body, etag, type }: Content): Reply {
  const isKnown = status === 200 && request.headers['if-none-match'] === etag
  return {
    status: isKnown ? 304 : status,
    body,
    headers: { 'content-type': type, 'cache-control': 'private, no-cache', etag },
  }
}

function failure(status: number, error: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return {
    status,
    body: `${JSON.stringify({ error })}\n`,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      ...headers,
    },
  }
}

function pathOf(request: IncomingMessage): string {
  const [path = '/'] = (request.url ?? '/').split('?')
  return path
}
