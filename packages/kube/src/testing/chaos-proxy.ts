// SPDX-License-Identifier: Apache-2.0

// A TLS proxy on loopback in front of a real API server. It breaks watches in every way a network can, and rejects
// requests as configured.

import { once } from 'node:events'
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { Agent, createServer, request as httpsRequest, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { DelayLine } from './delay-line.ts'
import { type LocalhostPki, newPki } from './localhost-pki.ts'

/** The fault of one watch. Bytes are counted from the start of the response. */
export type WatchFault =
  | { readonly kind: 'none' }
  /** The connection is destroyed after so many bytes. */
  | { readonly kind: 'kill'; readonly afterBytes: number }
  /** The response ends properly after so many bytes, in the middle of an event. */
  | { readonly kind: 'truncate'; readonly afterBytes: number }
  /** The connection stays open without data after so many bytes. */
  | { readonly kind: 'hang'; readonly afterBytes: number }
  /** The server responds with this status only. */
  | { readonly kind: 'status'; readonly status: 410 | 429 | 500 | 503 }
  /** After so many bytes the server sends an ERROR event with code 410. */
  | { readonly kind: 'expire'; readonly afterBytes: number }

export interface RequestFault {
  readonly status: number
  readonly reason: string
  /** The server carries out the request; only its response is lost. */
  readonly isCarriedOut: boolean
}

export interface ChaosProxyOptions {
  readonly server: string
  readonly ca: string
  /** The client certificate of the proxy. Without it the proxy is anonymous, so that a caller's token counts. */
  readonly certificate?: string
  readonly key?: string
  readonly watchFault: () => WatchFault
  /** Delay in milliseconds of watch data; the order is kept. */
  readonly watchDelayMs?: () => number
  /** Called with path and query before each request other than a watch is forwarded. Undefined: no fault. */
  readonly requestFault?: (request: { method: string; path: string }) => Promise<RequestFault | undefined>
}

export class ChaosProxy {
  readonly #options: ChaosProxyOptions
  readonly #server: Server
  readonly #agent: Agent
  readonly #sockets = new Set<Socket>()
  #pki: LocalhostPki
  /** The number of broken watches so far, by kind. */
  readonly broken = new Map<WatchFault['kind'], number>()

  private constructor(options: ChaosProxyOptions, pki: LocalhostPki) {
    this.#options = options
    this.#pki = pki
    this.#agent = new Agent({
      keepAlive: true,
      ca: options.ca,
      cert: options.certificate,
      key: options.key,
    })
    this.#server = createServer(pki.server, (incoming, outgoing) => void this.#respond(incoming, outgoing))
    this.#server.on('secureConnection', socket => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
      socket.on('error', () => {})
    })
  }

  static async start(options: ChaosProxyOptions): Promise<ChaosProxy> {
    const proxy = new ChaosProxy(options, newPki())
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get ca(): string {
    return this.#pki.authority.cert
  }

  /** From now on the server presents a certificate of another authority. */
  useCertificate(pki: LocalhostPki): void {
    this.#pki = pki
    this.#server.setSecureContext(pki.server)
  }

  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async stop(): Promise<void> {
    this.#server.close()
    this.dropConnections()
    this.#agent.destroy()
  }

  async #respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const path = incoming.url!
    if (path.includes('watch=true')) {
      this.#respondToWatch(incoming, outgoing)
      return
    }
    const rejection = await this.#options.requestFault?.({ method: incoming.method!, path })
    if (rejection && !rejection.isCarriedOut) sendError(outgoing, rejection.status, rejection.reason)
    else
      this.#forward(incoming, outgoing, response => {
        if (rejection) {
          response.resume()
          sendError(outgoing, rejection.status, rejection.reason)
          return
        }
        outgoing.writeHead(response.statusCode!, response.headers)
        response.pipe(outgoing)
      })
  }

  #respondToWatch(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const fault = this.#options.watchFault()
    if (fault.kind !== 'none') this.broken.set(fault.kind, (this.broken.get(fault.kind) ?? 0) + 1)
    if (fault.kind === 'status') {
      sendError(outgoing, fault.status, reasonOf[fault.status])
      return
    }
    this.#forward(incoming, outgoing, (response, upstream) => {
      outgoing.writeHead(response.statusCode!, response.headers)
      this.#forwardWatch(response, outgoing, upstream, fault)
    })
  }

  #forward(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    onResponse: (response: IncomingMessage, upstream: ClientRequest) => void,
  ): void {
    const url = new URL(incoming.url!, this.#options.server)
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const headers = { ...incoming.headers, host: url.host }
    const upstream = send(url, { method: incoming.method, headers, agent: this.#agent }, response =>
      onResponse(response, upstream),
    )
    upstream.on('error', () => outgoing.destroy())
    outgoing.on('close', () => upstream.destroy())
    incoming.pipe(upstream)
  }

  #forwardWatch(
    response: IncomingMessage,
    outgoing: ServerResponse,
    upstream: ClientRequest,
    fault: WatchFault,
  ): void {
    outgoing.flushHeaders()
    let left = 'afterBytes' in fault ? fault.afterBytes : Number.POSITIVE_INFINITY
    const deliver = (chunk: Buffer) => {
      if (left <= 0 || outgoing.destroyed) return
      outgoing.write(chunk.subarray(0, left))
      left -= chunk.length
      if (left > 0) return
      if (fault.kind !== 'hang') upstream.destroy()
      if (fault.kind === 'kill') setImmediate(() => outgoing.socket?.destroy())
      else if (fault.kind === 'truncate') outgoing.end()
      else if (fault.kind === 'expire') {
        const object = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }
        outgoing.end(`\n${JSON.stringify({ type: 'ERROR', object })}\n`)
      }
    }
    const line = new DelayLine()
    const later = (act: () => void) => line.push(this.#options.watchDelayMs?.() ?? 0, act)
    response.on('data', (chunk: Buffer) => later(() => deliver(chunk)))
    response.on('end', () => later(() => outgoing.end()))
    response.on('error', () => outgoing.destroy())
  }
}

const reasonOf = { 410: 'Expired', 429: 'TooManyRequests', 500: 'InternalError', 503: 'ServiceUnavailable' }

function sendError(outgoing: ServerResponse, status: number, reason: string): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' })
  outgoing.end(JSON.stringify({ kind: 'Status', status: 'Failure', code: status, reason, message: 'chaos' }))
}
