// SPDX-License-Identifier: Apache-2.0

// A minimal HTTPS client that starts a control plane and reads from it in tests. The code under test has its own
// client.
import { Agent, request } from 'node:https'
import type { KeyPair } from '@grove/kube'

export interface Endpoint {
  /** For example https://127.0.0.1:20001. */
  readonly server: string
  /** PEM. */
  readonly ca: string
  readonly client?: KeyPair
}

export interface RequestOptions {
  readonly body?: unknown
  readonly contentType?: string
}

export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number

  constructor(status: number, method: string, path: string, body: string) {
    super(`${method} ${path} returned ${status}: ${messageOf(body)}`)
    this.status = status
  }
}

export class Api {
  readonly #endpoint: Endpoint
  readonly #agent: Agent

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint
    const { ca, client } = endpoint
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: 16,
      ca,
      ...client,
    })
  }

  /** Sends and parses JSON; throws an ApiError for a status of 400 and above. */
  async request<T = unknown>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    const { status, text } = await this.text(method, path, options)
    if (status >= 400) throw new ApiError(status, method, path, text)
    return JSON.parse(text) as T
  }

  async text(
    method: string,
    path: string,
    { body, contentType = 'application/json' }: RequestOptions = {},
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
    const outgoing = request(new URL(path, this.#endpoint.server), {
      method,
      agent: this.#agent,
      // A paused component accepts connections and never responds.
      timeout: 30_000,
      headers: body === undefined ? {} : { 'content-type': contentType },
    })
    outgoing.on('response', incoming => {
      let text = ''
      incoming.setEncoding('utf8')
      incoming.on('data', chunk => {
        text += chunk
      })
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text }))
      incoming.on('error', reject)
    })
    outgoing.on('timeout', () => outgoing.destroy(new Error(`${method} ${path} got no response within 30 s`)))
    outgoing.on('error', reject)
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
    return promise
  }

  close(): void {
    this.#agent.destroy()
  }
}

function messageOf(body: string): string {
  try {
    const { message } = JSON.parse(body) as { message?: string }
    return message ?? body
  } catch {
    return body
  }
}
