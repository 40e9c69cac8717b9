// SPDX-License-Identifier: Apache-2.0

const newline = 0x0a

export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError'
}

/**
 * Splits a stream of bytes into lines. Chunks may be cut anywhere, also inside a character. Bytes after the last line
 * break are kept for the next chunk. They are never delivered alone, because a truncated line is not an event.
 */
export class LineSplitter {
  readonly #maxLineBytes: number
  #pending: Buffer[] = []
  #pendingBytes = 0

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes
  }

  /** The number of bytes of the incomplete line. */
  get pendingBytes(): number {
    return this.#pendingBytes
  }

  /**
   * Calls back for each line that this chunk completes, except empty ones. Throws a LineTooLongError if a line
   * exceeds the limit, so that a broken server cannot fill the memory.
   */
  push(bytes: Uint8Array, onLine: (line: Buffer) => void): void {
    const chunk = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#checkLength(end - start)
      if (this.#pendingBytes > 0) onLine(this.#takePendingWith(chunk.subarray(start, end)))
      else if (end > start) onLine(chunk.subarray(start, end))
      start = end + 1
    }
    if (start < chunk.length) {
      this.#checkLength(chunk.length - start)
      this.#pending.push(chunk.subarray(start))
      this.#pendingBytes += chunk.length - start
    }
  }

  #takePendingWith(end: Buffer): Buffer {
    const line = Buffer.concat([...this.#pending, end], this.#pendingBytes + end.length)
    this.#pending = []
    this.#pendingBytes = 0
    return line
  }

  #checkLength(more: number): void {
    const length = this.#pendingBytes + more
    if (length > this.#maxLineBytes)
      throw new LineTooLongError(`a line of more than ${this.#maxLineBytes} bytes (${length} so far)`)
  }
}
