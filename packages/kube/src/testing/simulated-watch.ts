// SPDX-License-Identifier: Apache-2.0

import { TransportError } from '../client/transport.ts'

export type CutKind = 'end' | 'break' | 'truncate'

/** One open watch. Events wait here until the reader and the delays of the test let them through, in order. */
export class SimulatedWatch {
  readonly #collection: string
  readonly #delay: ((what: 'event') => Promise<void>) | undefined
  readonly #signal: AbortSignal | undefined
  readonly #onEnd: () => void
  readonly #waiting: string[] = []
  #end: CutKind | undefined
  #resume: (() => void) | undefined

  constructor(
    collection: string,
    signal: AbortSignal | undefined,
    delay: ((what: 'event') => Promise<void>) | undefined,
    onEnd: () => void,
  ) {
    this.#collection = collection
    this.#signal = signal
    this.#delay = delay
    this.#onEnd = onEnd
    signal?.addEventListener('abort', () => this.cut('break'), { once: true })
  }

  offer(path: string, event: object): void {
    if (belongs(path, this.#collection)) this.push(event)
  }

  push(event: object): void {
    this.#waiting.push(`${JSON.stringify(event)}\n`)
    this.#resume?.()
  }

  cut(how: CutKind): void {
    this.#end ??= how
    this.#onEnd()
    this.#resume?.()
  }

  async *read(): AsyncGenerator<Uint8Array> {
    try {
      while (true) {
        const line = this.#waiting.shift()
        if (line !== undefined && this.#end !== 'break') {
          await this.#delay?.('event')
          if (this.#end === undefined) yield Buffer.from(line)
          else if (this.#end === 'truncate') yield Buffer.from(line).subarray(0, line.length >> 1)
        }
        if (this.#signal?.aborted) throw new TransportError('aborted', true, 'aborted')
        if (this.#end === 'end') return
        if (this.#end) throw new TransportError('network', true, 'the connection was cut')
        if (this.#waiting.length > 0) continue
        await new Promise<void>(resolve => {
          this.#resume = resolve
        })
      }
    } finally {
      this.#onEnd()
    }
  }
}

/** Reports whether a path is in the collection of its namespace, or in that of all namespaces. */
export function belongs(path: string, collection: string): boolean {
  const everywhere = path.replace(/\/namespaces\/[^/]+/, '')
  return path.startsWith(`${collection}/`) || everywhere.startsWith(`${collection}/`)
}
