// SPDX-License-Identifier: Apache-2.0

// Server-sent events: each event is the number of the current revision. The page then reads its document again.
import type { ServerResponse } from 'node:http'
import type { Clock, Timer } from '@grove/kube'
import { heartbeatMs, maxStreams, maxUnreadBytes } from './limits.ts'

export class Streams {
  readonly #clock: Clock
  readonly #open = new Set<ServerResponse>()
  readonly #onHeartbeat: () => void
  #timer: Timer | undefined

  constructor(clock: Clock, onHeartbeat: () => void) {
    this.#clock = clock
    this.#onHeartbeat = onHeartbeat
  }

  get size(): number {
    return this.#open.size
  }

  /** Keeps the response open. Returns false if there are too many. */
  add(response: ServerResponse, headers: Readonly<Record<string, string>>, revision: number): boolean {
    if (this.#open.size >= maxStreams) return false
    response.writeHead(200, { ...headers, 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    // The time until the browser reconnects.
    response.write('retry: 3000\n\n')
    this.#open.add(response)
    response.once('close', () => this.#open.delete(response))
    this.#send(response, revision)
    this.#timer ??= this.#clock.setTimeout(() => this.#beat(), heartbeatMs)
    return true
  }

  publish(revision: number): void {
    for (const response of this.#open) this.#send(response, revision)
  }

  close(): void {
    this.#timer?.cancel()
    for (const response of this.#open) response.end()
    this.#open.clear()
  }

  #send(response: ServerResponse, revision: number): void {
    if (response.writableLength > maxUnreadBytes) response.destroy()
    else response.write(`data: ${revision}\n\n`)
  }

  #beat(): void {
    this.#timer = undefined
    if (this.#open.size === 0) return
    this.#timer = this.#clock.setTimeout(() => this.#beat(), heartbeatMs)
    this.#onHeartbeat()
  }
}
