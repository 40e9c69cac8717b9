// SPDX-License-Identifier: Apache-2.0

// A small HTTP server for probes, metrics and profiles. Promised: a response to every request, even if the handler
// fails; a stop in bounded time. With certificates it uses TLS, which token-protected metrics need.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https'
import { type AddressInfo, BlockList, isIP } from 'node:net'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { CertificateSource } from '../certificates/index.ts'
import { type Logger, silentLogger } from '../log/index.ts'

const requestTimeoutMs = 30_000
const headersTimeoutMs = 10_000
/** Kubelets, scrapers and people need only a few. More are closed, so that they cannot take all file descriptors. */
const maxConnections = 256

export interface EndpointAddress {
  /** Default: all interfaces. */
  readonly host?: string
  /** 0 takes any free port. */
  readonly port: number
  readonly certificates?: CertificateSource
}

export interface EndpointResponse {
  readonly status: number
  readonly body: string | Readable
  readonly headers?: Readonly<Record<string, string>>
}

export type EndpointHandler = (
  url: URL,
  request: IncomingMessage,
) => EndpointResponse | undefined | Promise<EndpointResponse | undefined>

/** Plain text. */
export function text(status: number, body: string): EndpointResponse {
  return {
    status,
    body,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  }
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Reports whether a server on this host is reachable from this machine only. An empty host is every interface. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '')
  if (address === 'localhost') return true
  const version = isIP(address)
  return version !== 0 && loopback.check(address, version === 6 ? 'ipv6' : 'ipv4')
}

const notFound: EndpointResponse = text(404, '404 page not found\n')

export class HttpEndpoint {
  readonly name: string
  readonly #address: EndpointAddress
  readonly #handler: EndpointHandler
  readonly #log: Logger
  #server: Server | SecureServer | undefined
  #unsubscribe = () => {}

  constructor(name: string, address: EndpointAddress, handler: EndpointHandler, log: Logger = silentLogger) {
    this.name = name
    this.#address = address
    this.#handler = handler
    this.#log = log
  }

  get port(): number | undefined {
    return (this.#server?.address() as AddressInfo | null)?.port
  }

  async start(): Promise<void> {
    const { host, port, certificates } = this.#address
    const server = certificates
      ? this.#secure(certificates)
      : createServer({ requestTimeout: requestTimeoutMs, headersTimeout: headersTimeoutMs })
    server.maxConnections = maxConnections
    server.on('request', (request, response) => {
      void this.#respond(request).then(async ({ status, body, headers }) => {
        response.writeHead(status, headers)
        if (typeof body === 'string') response.end(body)
        // A client that leaves in the middle of a download needs no response.
        else await pipeline(body, response).catch(() => {})
      })
    })
    await new Promise<void>((resolve, reject) => {
      // The message of Node has the address, but a process has several ports.
      const fail = (error: Error) =>
        reject(new Error(`cannot serve ${this.name}: ${error.message}`, { cause: error }))
      server.once('error', fail)
      server.listen(port, host, () => {
        server.off('error', fail)
        resolve()
      })
    })
    this.#server = server
  }

  async stop(): Promise<void> {
    this.#unsubscribe()
    const server = this.#server
    this.#server = undefined
    if (!server) return
    const closed = new Promise<void>(resolve => server.close(() => resolve()))
    // Stops at once, because no response here is important enough to wait for.
    server.closeAllConnections()
    await closed
  }

  /** Without a certificate no TLS handshake succeeds; with the first one they do. */
  #secure(certificates: CertificateSource): SecureServer {
    const server = createSecureServer({
      minVersion: 'TLSv1.2',
      requestTimeout: requestTimeoutMs,
      headersTimeout: headersTimeoutMs,
      ...certificates.current(),
    })
    this.#unsubscribe = certificates.onChange(pair =>
      server.setSecureContext({ minVersion: 'TLSv1.2', ...pair }),
    )
    return server
  }

  async #respond(request: IncomingMessage): Promise<EndpointResponse> {
    request.resume()
    try {
      const url = URL.parse(request.url ?? '/', 'http://endpoint')
      return (url && (await this.#handler(url, request))) ?? notFound
    } catch (error) {
      this.#log.error('Endpoint failed', { endpoint: this.name, path: request.url, error })
      return text(500, 'internal server error\n')
    }
  }
}
