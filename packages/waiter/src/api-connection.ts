// SPDX-License-Identifier: Apache-2.0

// The connection to the API server from inside a pod. Imports only types of node:http, because the module would also
// load Node's fetch and WebSocket.
import { readFileSync } from 'node:fs'
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import https from 'node:https'
import { join } from 'node:path'
import type { Transport, TransportRequest, TransportStream } from './transport.ts'

/** The kernel detects within about 20 seconds that the peer's machine is gone. */
const keepAliveProbeMs = 10_000

export interface ApiConnectionOptions {
  /** For example https://10.96.0.1:443. */
  readonly server: string
  /** Contains `token` and `ca.crt`. */
  readonly serviceAccountDirectory: string
  /** Default: `node:https`. Tests pass `node:http`. */
  readonly module?: HttpModule
}

export interface HttpModule {
  readonly Agent: new (options: https.AgentOptions) => Agent
  readonly request: (
    url: URL,
    options: RequestOptions,
    onResponse: (response: IncomingMessage) => void,
  ) => ClientRequest
}

/**
 * Reads token and certificate for each request. Requests are rare, so a rotated token or one that is mounted late
 * needs no file watch. A list and the watch after it share one connection.
 */
export class ApiConnection implements Transport {
  readonly #server: URL
  readonly #directory: string
  readonly #module: HttpModule
  #agent: Agent | undefined
  #authority: string | undefined

  constructor({ server, serviceAccountDirectory, module = https }: ApiConnectionOptions) {
    this.#server = new URL(server)
    this.#directory = serviceAccountDirectory
    this.#module = module
  }

  async stream({ method, path, headers, timeoutMs, signal }: TransportRequest): Promise<TransportStream> {
    const token = readFileSync(join(this.#directory, 'token'), 'utf8').trim()
    const options = {
      method,
      agent: this.#agentFor(readFileSync(join(this.#directory, 'ca.crt'), 'utf8')),
      timeout: timeoutMs,
      headers: { ...headers, authorization: `Bearer ${token}` },
      ...(signal && { signal }),
    }
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const request = this.#module.request(new URL(path, this.#server), options, resolve)
    let response: IncomingMessage | undefined
    request.on('timeout', () => {
      const silence = new Error(`${this.#server.host} has been silent for ${timeoutMs / 1_000} s`)
      ;(response ?? request).destroy(silence)
    })
    // Stays registered after the response has started: the body then reports the failure, and without a listener the
    // process would exit.
    request.on('error', reject)
    request.end()
    response = await promise
    return { status: response.statusCode ?? 0, headers: response.headers, body: response }
  }

  close(): void {
    this.#agent?.destroy()
    this.#agent = undefined
  }

  #agentFor(authority: string): Agent {
    if (this.#agent && this.#authority === authority) return this.#agent
    this.close()
    this.#authority = authority
    this.#agent = new this.#module.Agent({
      keepAlive: true,
      keepAliveMsecs: keepAliveProbeMs,
      maxSockets: 1,
      ca: authority,
    })
    return this.#agent
  }
}
