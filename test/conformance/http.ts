// SPDX-License-Identifier: Apache-2.0

// A plain HTTP client, so that the cases see the bytes of the protocol instead of the result of a client library.
import { Agent, type RequestOptions, request } from 'node:https'
import { Document } from './json.ts'
import { WatchStream } from './watch-stream.ts'

export interface Target {
  readonly server: string
  readonly ca: string
  /** Credentials of the client: a certificate or a bearer token. */
  readonly certificate?: string
  readonly key?: string
  readonly token?: string
}

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | readonly string[]>>
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly contentType?: string
}

export class Response extends Document {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The unparsed body. */
  readonly raw: string

  constructor(status: number, headers: Response['headers'], raw: string) {
    super(parse(raw))
    this.status = status
    this.headers = headers
    this.raw = raw
  }
}

/** A server that does not respond within this time is broken. */
const responseTimeoutMs = 30_000

export class Http {
  readonly #target: Target
  readonly #agent: Agent

  constructor(target: Target) {
    this.#target = target
    this.#agent = new Agent({ keepAlive: true, ca: target.ca, cert: target.certificate, key: target.key })
  }

  close(): void {
    this.#agent.destroy()
  }

  /** Returns a client of the same server with only a bearer token. */
  bearer(token: string): Http {
    const { server, ca } = this.#target
    return new Http({ server, ca, token })
  }

  get = (path: string, options?: CallOptions) => this.call('GET', path, undefined, options)
  post = (path: string, body: unknown, options?: CallOptions) => this.call('POST', path, body, options)
  put = (path: string, body: unknown, options?: CallOptions) => this.call('PUT', path, body, options)
  delete = (path: string, body?: unknown, options?: CallOptions) => this.call('DELETE', path, body, options)
  jsonPatch = (path: string, body: unknown, options?: CallOptions) =>
    this.#patch('json-patch+json', path, body, options)
  mergePatch = (path: string, body: unknown, options?: CallOptions) =>
    this.#patch('merge-patch+json', path, body, options)
  strategicPatch = (path: string, body: unknown, options?: CallOptions) =>
    this.#patch('strategic-merge-patch+json', path, body, options)

  /** Server-side apply by `manager`. */
  apply = (path: string, body: unknown, manager: string, query: Readonly<Record<string, string>> = {}) =>
    this.#patch('apply-patch+yaml', path, body, {
      query: { ...(manager && { fieldManager: manager }), ...query },
    })

  #patch(type: string, path: string, body: unknown, options?: CallOptions): Promise<Response> {
    return this.call('PATCH', path, body, { ...options, contentType: `application/${type}` })
  }

  /** Objects are sent as JSON, strings unchanged. */
  call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Response> {
    const { promise, resolve, reject } = Promise.withResolvers<Response>()
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
    const outgoing = request(this.#url(path, options), {
      ...this.#options(method, options, text),
      timeout: responseTimeoutMs,
    })
    outgoing.on('response', incoming => {
      let received = ''
      incoming.setEncoding('utf8')
      incoming.on('data', chunk => {
        received += chunk
      })
      incoming.on('end', () => resolve(new Response(incoming.statusCode ?? 0, incoming.headers, received)))
      incoming.on('error', reject)
    })
    outgoing.on('timeout', () => outgoing.destroy(new Error(`${method} ${path} got no response`)))
    outgoing.on('error', reject)
    outgoing.end(text)
    return promise
  }

  /** Opens a watch; resolves when the server has accepted it. */
  watch(
    path: string,
    query: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<WatchStream> {
    const { promise, resolve, reject } = Promise.withResolvers<WatchStream>()
    const options = { query: { watch: 'true', ...query }, headers }
    const outgoing = request(this.#url(path, options), {
      ...this.#options('GET', options, undefined),
      agent: undefined,
      ca: this.#target.ca,
      cert: this.#target.certificate,
      key: this.#target.key,
    })
    outgoing.on('response', incoming => resolve(new WatchStream(incoming, () => outgoing.destroy())))
    outgoing.on('error', reject)
    outgoing.end()
    return promise
  }

  #url(path: string, { query = {} }: CallOptions): URL {
    const url = new URL(path, this.#target.server)
    for (const [name, value] of Object.entries(query))
      for (const one of [value].flat()) url.searchParams.append(name, one as string)
    return url
  }

  #options(method: string, { headers, contentType }: CallOptions, text: string | undefined): RequestOptions {
    return {
      method,
      agent: this.#agent,
      headers: {
        accept: 'application/json',
        ...(this.#target.token && { authorization: `Bearer ${this.#target.token}` }),
        ...(text !== undefined && {
          'content-type': contentType ?? 'application/json',
          'content-length': Buffer.byteLength(text),
        }),
        ...headers,
      },
    }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
