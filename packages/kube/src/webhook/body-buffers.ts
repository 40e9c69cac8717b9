// SPDX-License-Identifier: Apache-2.0

// Receives request bodies within one budget of bytes for all connections. A body occupies its share until it is
// released. When the budget is exceeded, the body that has been incomplete for the longest time is rejected: API
// servers send a review within milliseconds, so the oldest incomplete body belongs to a slow client.
import type { IncomingMessage } from 'node:http'
import { Overloaded } from './limits.ts'

/**
 * Bodies are collected in one growing buffer: a list of chunks would cost far more than its bytes if these are tiny.
 */
const firstCapacity = 16 * 1024

export interface ReceivedBody {
  /** `too-large` if the limit for one body was reached; the rest is discarded. */
  readonly bytes: Buffer | 'too-large'
  release(): void
}

export interface BodyLimits {
  readonly bodyBytes: number
  readonly totalBytes: number
}

export class BodyBuffers {
  readonly #limits: BodyLimits
  #held = 0
  /** In the order of their start. */
  readonly #incomplete = new Set<Receiving>()

  constructor(limits: BodyLimits) {
    this.#limits = limits
  }

  get heldBytes(): number {
    return this.#held
  }

  /** Rejects with `Overloaded` if there is no room, and with the error of the connection if it ends too early. */
  receive(request: IncomingMessage): Promise<ReceivedBody> {
    const { bodyBytes } = this.#limits
    if (Number(request.headers['content-length'] ?? 0) >= bodyBytes) {
      request.resume()
      return Promise.resolve(tooLarge)
    }
    return new Promise((resolve, reject) => {
      const receiving = new Receiving()
      this.#incomplete.add(receiving)
      const stop = () => {
        this.#incomplete.delete(receiving)
        request.off('data', take).off('end', complete).off('error', fail).off('close', closed)
        // Read and drop the rest: a client that is still writing would not see the response.
        request.on('error', () => {}).resume()
      }
      const give = () => {
        this.#held -= receiving.capacity
        receiving.drop()
      }
      const fail = (error: Error) => {
        stop()
        give()
        reject(error)
      }
      const closed = () => fail(new Error('the connection was closed before the request was complete'))
      const take = (chunk: Buffer) => {
        if (receiving.size + chunk.length >= bodyBytes) {
          stop()
          give()
          resolve(tooLarge)
          return
        }
        this.#held += receiving.append(chunk)
        while (this.#held > this.#limits.totalBytes && this.#incomplete.size > 0) {
          const [oldest] = this.#incomplete
          oldest!.evict()
        }
      }
      const complete = () => {
        stop()
        resolve({ bytes: receiving.bytes, release: give })
      }
      receiving.evict = () => fail(new Overloaded('the server buffers too many requests'))
      request.on('data', take).once('end', complete).once('error', fail).once('close', closed)
    })
  }
}

const tooLarge: ReceivedBody = { bytes: 'too-large', release: () => {} }

class Receiving {
  size = 0
  #buffer = Buffer.alloc(0)
  evict: () => void = () => {}

  get capacity(): number {
    return this.#buffer.length
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.size)
  }

  /** Returns the growth of the capacity in bytes. */
  append(chunk: Buffer): number {
    const before = this.#buffer.length
    const needed = this.size + chunk.length
    if (needed > before) {
      // Does not use the shared pool of Buffer, because the buffer is in use as long as its request.
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, before * 2, firstCapacity))
      this.bytes.copy(larger)
      this.#buffer = larger
    }
    chunk.copy(this.#buffer, this.size)
    this.size = needed
    return this.#buffer.length - before
  }

  drop(): void {
    this.#buffer = Buffer.alloc(0)
    this.size = 0
  }
}
