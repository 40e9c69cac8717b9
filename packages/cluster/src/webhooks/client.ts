// SPDX-License-Identifier: Apache-2.0

import { Agent, request } from 'node:https'
import type { Store } from '../store/index.ts'
import { type Destination, destinationOf } from './destination.ts'
import type { Hook } from './hooks.ts'

const defaultTimeoutSeconds = 10

/** The maximum size of a webhook response. A patch of the largest object fits. */
const maximumResponseBytes = 16 * 1024 * 1024

interface HttpResponse {
  readonly status: number
  readonly text: string
}

/** Calls webhooks over HTTPS and reuses connections. */
export class HookClient {
  readonly #store: Store
  /** By CA bundle and server name, because a connection is only as trusted as its bundle. */
  readonly #agents = new Map<string, Agent>()

  constructor(store: Store) {
    this.#store = store
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy()
    this.#agents.clear()
  }

  /** Returns the parsed response. Throws an Error with the message of Go's HTTP client if there is none. */
  async post(hook: Hook, body: unknown): Promise<unknown> {
    const seconds = hook.timeoutSeconds ?? defaultTimeoutSeconds
    let shown = ''
    try {
      shown = urlOf(hook, seconds)
      const destination = destinationOf(hook, this.#store)
      const response = await this.#send(hook, destination, JSON.stringify(body), seconds)
      return parseResponse(response)
    } catch (error) {
      if (error instanceof ResponseError) throw error
      throw new Error(`Post "${shown}": ${describeError(error)}`)
    }
  }

  #send(hook: Hook, destination: Destination, body: string, seconds: number): Promise<HttpResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
    const { host, port, serverName, url } = destination
    const outgoing = request({
      agent: this.#agentFor(hook, destination),
      host,
      port,
      path: `${url.pathname}?timeout=${seconds}s`,
      method: 'POST',
      headers: {
        host: `${serverName}:${port}`,
        accept: 'application/json, */*',
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
      signal: AbortSignal.timeout(seconds * 1000),
    })
    outgoing.on('error', reject)
    outgoing.on('response', incoming => {
      const chunks: Buffer[] = []
      let size = 0
      incoming.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        size += chunk.length
        if (size > maximumResponseBytes) outgoing.destroy(new Error('the response is too large'))
      })
      incoming.on('error', reject)
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      )
    })
    outgoing.end(body)
    return promise
  }

  #agentFor({ clientConfig }: Hook, { serverName }: Destination): Agent {
    const bundle = clientConfig?.caBundle ?? ''
    const key = `${serverName} ${bundle}`
    let agent = this.#agents.get(key)
    if (!agent) {
      const ca = bundle ? { ca: Buffer.from(bundle, 'base64').toString('utf8') } : {}
      // IP addresses are not valid in SNI, but they are verified like names.
      const name = /^[\d.]+$|:/.test(serverName) ? {} : { servername: serverName }
      agent = new Agent({ keepAlive: true, ...ca, ...name })
      this.#agents.set(key, agent)
    }
    return agent
  }
}

function urlOf({ clientConfig = {} }: Hook, seconds: number): string {
  const { service, url = '' } = clientConfig
  const base = service
    ? `https://${service.name}.${service.namespace}.svc:${service.port ?? 443}${withSlash(service.path)}`
    : url.replace(/[?#].*$/, '')
  return `${base}?timeout=${seconds}s`
}

function withSlash(path = ''): string {
  return path.startsWith('/') ? path : `/${path}`
}

/** The webhook responded, but not with an AdmissionReview. */
class ResponseError extends Error {}

function parseResponse({ status, text }: HttpResponse): unknown {
  if (status === 404) throw new ResponseError('the server could not find the requested resource')
  if (status >= 500)
    throw new ResponseError(
      `an error on the server (${JSON.stringify(text.trim() || 'unknown')}) has prevented the request from succeeding`,
    )
  if (status < 200 || status > 299)
    throw new ResponseError('the server rejected our request for an unknown reason')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ResponseError(`couldn't get version/kind; json parse error: ${(error as Error).message}`)
  }
}

const unknownAuthority = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_GET_ISSUER_CERT',
  'CERT_SIGNATURE_FAILURE',
])

/** Formats the error like Go. */
function describeError(error: unknown): string {
  const failure = error as NodeJS.ErrnoException & {
    address?: string
    port?: number
    hostname?: string
    host?: string
    cert?: { subjectaltname?: string }
  }
  const { code = '', message, name } = failure
  const certificate = 'tls: failed to verify certificate: x509:'
  if (name === 'AbortError' || name === 'TimeoutError') return 'context deadline exceeded'
  if (code === 'ECONNREFUSED')
    return `dial tcp ${failure.address}:${failure.port}: connect: connection refused`
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${failure.hostname}: no such host`
  if (code === 'ECONNRESET') return 'EOF'
  if (unknownAuthority.has(code)) return `${certificate} certificate signed by unknown authority`
  if (code === 'CERT_HAS_EXPIRED') return `${certificate} certificate has expired or is not yet valid`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const names = (failure.cert?.subjectaltname ?? '')
      .split(', ')
      .map(each => each.replace(/^(DNS|IP Address):/, ''))
    return `${certificate} certificate is valid for ${names.join(', ')}, not ${failure.host}`
  }
  return message
}
