// SPDX-License-Identifier: Apache-2.0

import { Client, type Dispatcher } from 'undici'
import type { Answer } from './http-answer.ts'

export interface ConnectionsOptions {
  /** Scheme, host and port. */
  readonly origin: string
  readonly settings: Client.Options
  /** Connections at most. */
  readonly most: number
  /** Requests at a time on each of them. */
  readonly places: number
}

interface Waiting {
  readonly request: Dispatcher.DispatchOptions
  readonly answer: Answer
}

/**
 * Kept-alive connections to one server. The place that became free last is taken first, in constant time however many
 * there are, so that connections which are not needed grow old and close. Requests beyond all places wait in order.
 */
export class Connections {
  readonly #options: ConnectionsOptions
  readonly #clients: Client[] = []
  /** A client stands here once for each of its free places. */
  readonly #free: Client[] = []
  #waiting: Waiting[] = []
  #drained: (() => void) | undefined

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  dispatch(request: Dispatcher.DispatchOptions, answer: Answer): void {
    const client = this.#free.pop() ?? this.#open()
    if (client) this.#send(client, request, answer)
    else this.#waiting.push({ request, answer })
  }

  /** Lets what is under way or waits come to its end. */
  async close(): Promise<void> {
    if (this.#waiting.length > 0)
      await new Promise<void>(resolve => {
        this.#drained = resolve
      })
    await Promise.all(this.#clients.map(client => client.close()))
  }

  #open(): Client | undefined {
    const { origin, settings, most, places } = this.#options
    if (this.#clients.length >= most) return undefined
    const client = new Client(origin, { ...settings, pipelining: places })
    this.#clients.push(client)
    for (let place = 1; place < places; place++) this.#free.push(client)
    return client
  }

  #send(client: Client, request: Dispatcher.DispatchOptions, answer: Answer): void {
    answer.whenOver(() => this.#goOn(client))
    client.dispatch(request, answer)
  }

  #goOn(client: Client): void {
    const next = this.#waiting.shift()
    if (next) this.#send(client, next.request, next.answer)
    else this.#free.push(client)
    if (this.#waiting.length === 0) this.#drained?.()
  }
}
