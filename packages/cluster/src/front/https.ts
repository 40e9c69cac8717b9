// SPDX-License-Identifier: Apache-2.0

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { maximumBodyBytes } from '../server/body.ts'
import type { ApiRequest, ApiResponse, UserInfo } from '../server/request.ts'
import { apiError } from '../server/status.ts'
import { type ClusterCertificates, makeCertificates } from './certificates.ts'
import { renderKubeconfig } from './kubeconfig.ts'

/** Authenticates a request by its headers. Returns undefined if they have no valid credentials. */
export type Authenticate = (
  headers: ApiRequest['headers'],
) => UserInfo | undefined | Promise<UserInfo | undefined>

export interface HttpsOptions {
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>
  /** Default: any free port. */
  readonly port?: number
  /** Default: loopback. */
  readonly host?: string
  readonly certificates?: ClusterCertificates
  /** For bearer tokens. Client certificates of the cluster's authority are always accepted. */
  readonly authenticate?: Authenticate
  readonly now?: number
}

export interface HttpsEndpoint {
  readonly url: string
  readonly port: number
  readonly kubeconfig: string
  readonly certificates: ClusterCertificates
  close(): Promise<void>
}

/** Idle connections are closed after this time. */
const keepAliveMs = 90_000

const anonymous: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

export async function serveHttps(options: HttpsOptions): Promise<HttpsEndpoint> {
  const host = options.host ?? '127.0.0.1'
  const certificates =
    options.certificates ??
    makeCertificates(options.now ?? Date.now(), [
      ...new Set([
        host,
        '127.0.0.1',
        'localhost',
        'kubernetes',
        'kubernetes.default',
        'kubernetes.default.svc',
      ]),
    ])
  const server = createServer(
    {
      ...certificates.server,
      ca: certificates.authority,
      requestCert: true,
      // A client without a valid certificate is anonymous. Authorization decides about its requests.
      rejectUnauthorized: false,
      keepAliveTimeout: keepAliveMs,
      // A watch has no time limit here.
      requestTimeout: 0,
    },
    (incoming, outgoing) => void handle(options, incoming, outgoing),
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  const url = `https://${host}:${port}`
  return {
    url,
    port,
    certificates,
    kubeconfig: renderKubeconfig(url, certificates.authority, certificates.admin),
    close: () => closeServer(server),
  }
}

function closeServer(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

async function handle(
  options: HttpsOptions,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort()
  })
  try {
    const body = await readBody(incoming)
    const request = await toRequest(options, incoming, body, gone.signal)
    const response = request ? await options.handle(request) : asResponse(apiError.unauthorized().status)
    await send(response, outgoing, incoming.method === 'HEAD')
  } catch (error) {
    if (error instanceof MalformedUrl) await send(badRequest, outgoing, false)
    else if (error instanceof BodyTooLarge) await send(tooLarge, outgoing, false)
    // The connection was closed during the request, so no response can be sent.
    else outgoing.destroy()
  }
}

class BodyTooLarge extends Error {}

const tooLarge = asResponse(apiError.tooLarge(maximumBodyBytes).status)

/** The connection is closed without a response after this many bytes. */
const maximumDiscardedBytes = 16 * maximumBodyBytes

async function readBody(incoming: IncomingMessage): Promise<Uint8Array | undefined> {
  if (incoming.method === 'GET' || incoming.method === 'HEAD') return undefined
  const chunks: Buffer[] = []
  let size = 0
  // A client reads the error response only after it has sent its body, so the rest of a large body is
  // discarded, up to a limit.
  const reading: AsyncIterable<Buffer> = incoming.iterator({ destroyOnReturn: false })
  for await (const chunk of reading) {
    size += chunk.length
    if (size <= maximumBodyBytes) chunks.push(chunk)
    else if (size > maximumDiscardedBytes) break
  }
  if (size > maximumBodyBytes) throw new BodyTooLarge()
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
}

async function toRequest(
  options: HttpsOptions,
  incoming: IncomingMessage,
  body: Uint8Array | undefined,
  signal: AbortSignal,
): Promise<ApiRequest | undefined> {
  const url = incoming.url ?? '/'
  const question = url.indexOf('?')
  const headers: Record<string, string | undefined> = {}
  for (const [name, value] of Object.entries(incoming.headers))
    headers[name] = Array.isArray(value) ? value.join(',') : value
  const user =
    userOfCertificate(incoming.socket as TLSSocket) ??
    (headers.authorization ? await options.authenticate?.(headers) : anonymous)
  if (!user) return undefined
  return {
    method: incoming.method ?? 'GET',
    path: decodePath(question < 0 ? url : url.slice(0, question)),
    query: new URLSearchParams(question < 0 ? '' : url.slice(question + 1)),
    headers,
    body,
    user,
    signal,
  }
}

/** Replaces invalid UTF-8 by replacement characters. Throws on an invalid escape sequence. */
function decodePath(path: string): string {
  if (!path.includes('%')) return path
  if (/%(?![0-9a-fA-F]{2})/.test(path)) throw new MalformedUrl()
  return Buffer.from(
    path.replace(/%(..)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    'latin1',
  ).toString('utf8')
}

class MalformedUrl extends Error {}

/** The response of Go's HTTP server, before any Kubernetes code sees the request. */
const badRequest: ApiResponse = {
  status: 400,
  headers: { 'content-type': 'text/plain; charset=utf-8', connection: 'close' },
  body: '400 Bad Request',
}

const users = new WeakMap<TLSSocket, UserInfo>()

/** The common name is the user, the organizations are the groups. Computed once per connection. */
function userOfCertificate(socket: TLSSocket): UserInfo | undefined {
  if (!socket.authorized) return undefined
  let user = users.get(socket)
  if (!user) {
    const { subject } = socket.getPeerCertificate()
    const groups = subject?.O === undefined ? [] : Array.isArray(subject.O) ? subject.O : [subject.O]
    user = { name: String(subject?.CN ?? ''), groups: [...groups, 'system:authenticated'] }
    users.set(socket, user)
  }
  return user
}

function asResponse(status: { code?: number }): ApiResponse {
  return {
    status: status.code ?? 500,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(status),
  }
}

async function send(response: ApiResponse, outgoing: ServerResponse, headOnly: boolean): Promise<void> {
  if (!response.stream) {
    // Bytes, because Node encodes headers like a text body.
    const body = response.bytes ?? Buffer.from(response.body ?? '')
    const headers = { ...inUtf8(response.headers), 'content-length': body.byteLength }
    outgoing.writeHead(response.status, headers)
    outgoing.end(headOnly ? undefined : body)
    return
  }
  outgoing.writeHead(response.status, inUtf8(response.headers))
  outgoing.flushHeaders()
  for await (const chunk of response.stream) {
    // Backpressure: a slow client costs only its position in the change log.
    if (!outgoing.write(chunk) && !outgoing.destroyed) await drained(outgoing)
    if (outgoing.destroyed) break
  }
  outgoing.end()
}

/**
 * Warnings may contain any Unicode text. Node writes headers as Latin-1, the real API server writes UTF-8.
 */
function inUtf8(headers: ApiResponse['headers']): ApiResponse['headers'] {
  const bytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1')
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? bytes(value) : value.map(bytes),
    ]),
  )
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      outgoing.off('drain', done)
      outgoing.off('close', done)
      resolve()
    }
    outgoing.once('drain', done)
    outgoing.once('close', done)
  })
}
