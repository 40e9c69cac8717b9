// SPDX-License-Identifier: Apache-2.0

import { Client, type Dispatcher } from 'undici'
import type { HttpResponse } from './http-response.ts'

export interface ConnectionsOptions {
  /** Scheme, host and port. */
  readonly origin: string
  readonly settings: Client.Options
  /** Maximum number of connections. */
  readonly maxConnections: number
  /** Concurrent requests per connection. */
  readonly slotsPerConnection: number
}

interface Waiting {
  readonly request: Dispatcher.DispatchOptions
  readonly response: HttpResponse
}

/**
 * Kept-alive connections to one server. Reuses the slot that became free last, in constant time, so that surplus
 * connections become idle and close. Requests beyond all slots wait in order.
 */
export class Connections {
  readonly #options: ConnectionsOptions
  readonly #clients: Client[] = []
  /** Contains a client once for each of its free slots. */
  readonly #free: Client[] = []
  #waiting: Waiting[] = []
  #drained: (() => void) | undefined

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  dispatch(request: Dispatcher.DispatchOptions, response: HttpResponse): void {
    const client = this.#free.pop() ?? this.#open()
    if (client) this.#send(client, request, response)
    else this.#waiting.push({ request, response })
  }

  /** Waits for running and queued requests. */
  async close(): Promise<void> {
    if (this.#waiting.length > 0)
      await new Promise<void>(resolve => {
        this.#drained = resolve
      })
    await Promise.all(this.#clients.map(client => client.close()))
  }

  #open(): Client | undefined {
    const { origin, settings, maxConnections: most, slotsPerConnection: places } = this.#options
    if (this.#clients.length >= most) return undefined
    const client = new Client(origin, { ...settings, pipelining: places })
    this.#clients.push(client)
    for (let place = 1; place < places; place++) this.#free.push(client)
    return client
  }

  #send(client: Client, request: Dispatcher.DispatchOptions, response: HttpResponse): void {
    response.onFinished(() => this.#release(client))
    client.dispatch(request, response)
  }

  #release(client: Client): void {
    const next = this.#waiting.shift()
    if (next) this.#send(client, next.request, next.response)
    else this.#free.push(client)
    if (this.#waiting.length === 0) this.#drained?.()
  }
}
