// SPDX-License-Identifier: Apache-2.0

const encoder = new TextEncoder()

/**
 * Incremental FNV-1a with 64 bits. The sum is kept in two 32-bit halves, because a BigInt per byte would be a hundred
 * times slower. The prime is 2^40 + 435, so a multiplication is a shift and a small product.
 */
export class Fnv1a64 {
  #high = 0xcbf29ce4 | 0
  #low = 0x84222325 | 0

  update(text: string): this {
    let high = this.#high
    let low = this.#low
    for (const byte of encoder.encode(text)) {
      low ^= byte
      const small = (low & 0xffff) * 435
      const large = (low >>> 16) * 435 + (small >>> 16)
      high = (Math.imul(high, 435) + (large >>> 16) + (low << 8)) | 0
      low = (large << 16) | (small & 0xffff)
    }
    this.#high = high
    this.#low = low
    return this
  }

  /** The sum as an unsigned decimal number. */
  digest(): string {
    return String((BigInt(this.#high >>> 0) << 32n) | BigInt(this.#low >>> 0))
  }
}
