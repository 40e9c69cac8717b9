// SPDX-License-Identifier: Apache-2.0

/** 198.18.0.0/15 is reserved for benchmarks, so a client that connects to a pod reaches no real host. */
const firstAddress = (198 << 24) | (18 << 16)
const addressCount = 2 ** 17

/** Assigns a unique address to each pod. */
export class PodAddresses {
  readonly #byOwner = new Map<string, number>()
  readonly #used = new Set<number>()
  #next = 1

  /** Returns the address of this owner. Assigns one on the first call. */
  addressOf(owner: string): string {
    const known = this.#byOwner.get(owner)
    if (known !== undefined) return textOf(known)
    if (this.#used.size >= addressCount - 2) throw new Error('all addresses of 198.18.0.0/15 are in use')
    while (this.#used.has(this.#next)) this.#advance()
    const chosen = this.#next
    this.#advance()
    this.#take(owner, chosen)
    return textOf(chosen)
  }

  /** Records the address that the owner already has. */
  restore(owner: string, address: string): void {
    const offset = offsetOf(address)
    if (offset !== undefined && !this.#used.has(offset)) this.#take(owner, offset)
  }

  release(owner: string): void {
    const offset = this.#byOwner.get(owner)
    if (offset === undefined) return
    this.#byOwner.delete(owner)
    this.#used.delete(offset)
  }

  #take(owner: string, offset: number): void {
    this.#byOwner.set(owner, offset)
    this.#used.add(offset)
  }

  #advance(): void {
    this.#next = (this.#next % (addressCount - 2)) + 1
  }
}

function textOf(offset: number): string {
  const address = (firstAddress + offset) >>> 0
  return [address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255].join('.')
}

function offsetOf(text: string): number | undefined {
  const parts = text.split('.').map(Number)
  if (parts.length !== 4) return undefined
  const [a = 0, b = 0, c = 0, d = 0] = parts
  const offset = (((a << 24) | (b << 16) | (c << 8) | d) >>> 0) - (firstAddress >>> 0)
  return offset > 0 && offset < addressCount - 1 ? offset : undefined
}
