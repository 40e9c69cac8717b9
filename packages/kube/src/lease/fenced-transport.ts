// SPDX-License-Identifier: Apache-2.0

import {
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
  type TransportStream,
} from '../client/transport.ts'
import type { Leadership } from './leadership.ts'

const reads: ReadonlySet<TransportRequest['method']> = new Set(['GET'])

/**
 * Allows a write only while leadership is held. Checks when the request is handed over, and again right before the
 * first byte is sent, which may be after the wait for a connection. Reads are always allowed. The Lease itself needs
 * a separate client without this fence.
 */
export class FencedTransport implements Transport {
  readonly #inner: Transport
  readonly #leadership: Leadership

  constructor(inner: Transport, leadership: Leadership) {
    this.#inner = inner
    this.#leadership = leadership
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    if (reads.has(request.method)) return this.#inner.request(request)
    const signal = new FenceSignal(this.#leadership, request.signal)
    if (signal.aborted) throw new TransportError('aborted', false, 'leadership is not held', signal.reason)
    return this.#inner.request({ ...request, signal })
  }

  stream(request: TransportRequest): Promise<TransportStream> {
    return this.#inner.stream(request)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }
}

/**
 * A signal that computes `aborted` on each access. In a process that was paused, the event of a lost lease comes too
 * late. Its first action after the pause may be a write to a connection that has just opened.
 */
class FenceSignal extends EventTarget implements AbortSignal {
  onabort: AbortSignal['onabort'] = null
  readonly #leadership: Leadership
  readonly #outer: AbortSignal | undefined

  constructor(leadership: Leadership, outer: AbortSignal | undefined) {
    super()
    this.#leadership = leadership
    this.#outer = outer
  }

  get aborted(): boolean {
    return this.#outer?.aborted || !this.#leadership.isHeld()
  }

  get reason(): unknown {
    if (this.#outer?.aborted) return this.#outer.reason
    try {
      this.#leadership.assertHeld()
      return undefined
    } catch (error) {
      return error
    }
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason
  }

  override addEventListener(...args: Parameters<EventTarget['addEventListener']>): void {
    this.#outer?.addEventListener(...args)
  }

  override removeEventListener(...args: Parameters<EventTarget['removeEventListener']>): void {
    this.#outer?.removeEventListener(...args)
  }
}
