// SPDX-License-Identifier: Apache-2.0

/** Events on their way to one reader, in order, until its signal is aborted. */
export class OpenWatch {
  readonly #signal: AbortSignal | undefined
  readonly #onEnd: () => void
  #lines: string[] = []
  #wake: () => void = () => undefined

  constructor(signal: AbortSignal | undefined, onEnd: () => void) {
    this.#signal = signal
    this.#onEnd = onEnd
    signal?.addEventListener('abort', () => this.#wake(), { once: true })
  }

  push(event: object): void {
    this.#lines.push(`${JSON.stringify(event)}\n`)
    this.#wake()
  }

  async *read(): AsyncGenerator<Uint8Array> {
    try {
      while (!this.#signal?.aborted) {
        const lines = this.#lines
        this.#lines = []
        for (const line of lines) yield Buffer.from(line)
        if (this.#lines.length > 0 || this.#signal?.aborted) continue
        await new Promise<void>(resolve => {
          this.#wake = resolve
        })
      }
    } finally {
      this.#onEnd()
    }
  }
}
