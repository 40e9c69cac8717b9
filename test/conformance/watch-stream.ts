// SPDX-License-Identifier: Apache-2.0

import type { IncomingMessage } from 'node:http'
import { Document } from './json.ts'

/** The body is the object of the event. */
class WatchEvent extends Document {
  readonly type: string

  constructor(line: string) {
    const { type, object } = JSON.parse(line) as { type: string; object: unknown }
    super(object)
    this.type = type
  }
}

/** The longest wait for an event. Long, because it only bounds failures. */
const eventTimeoutMs = 60_000

/** The events of one watch, in order. */
export class WatchStream {
  readonly status: number
  readonly #close: () => void
  readonly #events: WatchEvent[] = []
  #ended = false
  #notify: (() => void) | undefined
  #rest = ''

  constructor(incoming: IncomingMessage, close: () => void) {
    this.status = incoming.statusCode ?? 0
    this.#close = close
    incoming.setEncoding('utf8')
    incoming.on('data', (chunk: string) => this.#receive(chunk))
    for (const end of ['end', 'close', 'error'] as const)
      incoming.on(end, () => {
        this.#ended = true
        this.#notify?.()
      })
  }

  /** Returns the next event, or undefined when the server has ended the watch. */
  async next(): Promise<WatchEvent | undefined> {
    const deadline = setTimeout(() => this.#fail(), eventTimeoutMs)
    try {
      while (this.#events.length === 0 && !this.#ended)
        await new Promise<void>(resolve => {
          this.#notify = resolve
        })
      return this.#events.shift()
    } finally {
      clearTimeout(deadline)
    }
  }

  /** Returns the next event that is not a bookmark. */
  async nextChange(): Promise<WatchEvent | undefined> {
    for (;;) {
      const event = await this.next()
      if (event?.type !== 'BOOKMARK') return event
    }
  }

  async take(count: number): Promise<WatchEvent[]> {
    const events: WatchEvent[] = []
    while (events.length < count) {
      const event = await this.nextChange()
      if (!event) break
      events.push(event)
    }
    return events
  }

  close(): void {
    this.#close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #receive(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') this.#events.push(new WatchEvent(line))
    this.#notify?.()
  }

  #fail(): void {
    this.#ended = true
    this.close()
    this.#notify?.()
  }
}
