// SPDX-License-Identifier: Apache-2.0

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { maximumBodyBytes } from '../server/body.ts'
import type { ApiRequest, ApiResponse, UserInfo } from '../server/request.ts'
import { refuse } from '../server/status.ts'
import { type ClusterCertificates, makeCertificates } from './certificates.ts'
import { renderKubeconfig } from './kubeconfig.ts'

/** Who a request comes from, by what it carries beside a client certificate; undefined when nobody knows. */
export type Authenticate = (
  headers: ApiRequest['headers'],
) => UserInfo | undefined | Promise<UserInfo | undefined>

export interface HttpsOptions {
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>
  /** Any free port when absent. */
  readonly port?: number
  /** Loopback when absent. */
  readonly host?: string
  readonly certificates?: ClusterCertificates
  /** For bearer tokens; certificates of the cluster's authority are understood without it. */
  readonly authenticate?: Authenticate
  readonly now?: number
}

export interface HttpsFront {
  readonly url: string
  readonly port: number
  readonly kubeconfig: string
  readonly certificates: ClusterCertificates
  close(): Promise<void>
}

/** A client that keeps its connection without a request is let go after this. */
const keepAliveMs = 90_000

const anonymous: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

export async function serveHttps(options: HttpsOptions): Promise<HttpsFront> {
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
      // Without a certificate of ours a client is nobody in particular; what it may do is for authorization to say.
      rejectUnauthorized: false,
      keepAliveTimeout: keepAliveMs,
      // A watch lives as long as its client wants.
      requestTimeout: 0,
    },
    (incoming, outgoing) => void answer(options, incoming, outgoing),
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

async function answer(
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
    const response = request ? await options.handle(request) : asResponse(refuse.unauthorized().status)
    await send(response, outgoing, incoming.method === 'HEAD')
  } catch (error) {
    if (error instanceof MalformedUrl) await send(badRequest, outgoing, false)
    else if (error instanceof BodyTooLarge) await send(tooLarge, outgoing, false)
    // The connection broke while we read or wrote; there is nobody left to tell.
    else outgoing.destroy()
  }
}

class BodyTooLarge extends Error {}

const tooLarge = asResponse(refuse.tooLarge(maximumBodyBytes).status)

/** Who sends more than this is cut off without an answer. */
const patienceBytes = 16 * maximumBodyBytes

async function readBody(incoming: IncomingMessage): Promise<Uint8Array | undefined> {
  if (incoming.method === 'GET' || incoming.method === 'HEAD') return undefined
  const chunks: Buffer[] = []
  let size = 0
  // A client hears of its mistake only while it is read from: what is too much is let go by, within limits.
  const reading: AsyncIterable<Buffer> = incoming.iterator({ destroyOnReturn: false })
  for await (const chunk of reading) {
    size += chunk.length
    if (size <= maximumBodyBytes) chunks.push(chunk)
    else if (size > patienceBytes) break
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

/** Bytes that are no text become replacement characters. Throws when an escape is none. */
function decodePath(path: string): string {
  if (!path.includes('%')) return path
  if (/%(?![0-9a-fA-F]{2})/.test(path)) throw new MalformedUrl()
  return Buffer.from(
    path.replace(/%(..)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    'latin1',
  ).toString('utf8')
}

class MalformedUrl extends Error {}

/** What Go's HTTP server says before anything of Kubernetes has seen the request. */
const badRequest: ApiResponse = {
  status: 400,
  headers: { 'content-type': 'text/plain; charset=utf-8', connection: 'close' },
  body: '400 Bad Request',
}

const users = new WeakMap<TLSSocket, UserInfo>()

/** The common name is the user, the organizations are the groups. Looked up once per connection. */
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
    // Bytes, because Node writes the headers in the encoding of a body that is text.
    const body = response.bytes ?? Buffer.from(response.body ?? '')
    const headers = { ...inUtf8(response.headers), 'content-length': body.byteLength }
    outgoing.writeHead(response.status, headers)
    outgoing.end(headOnly ? undefined : body)
    return
  }
  outgoing.writeHead(response.status, inUtf8(response.headers))
  outgoing.flushHeaders()
  for await (const chunk of response.stream) {
    // A client that does not read stops us here, and nothing piles up for it but its place in the log.
    if (!outgoing.write(chunk) && !outgoing.destroyed) await drained(outgoing)
    if (outgoing.destroyed) break
  }
  outgoing.end()
}

/** Warnings quote texts of users in any language. Node writes one byte a character, real API servers write UTF-8. */
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
