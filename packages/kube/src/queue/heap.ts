// SPDX-License-Identifier: Apache-2.0

/** A binary heap of keys by rank, lowest first, in which ranks can change: O(log n); lookup O(1). */
export class IndexedHeap<Key> {
  readonly #keys: Key[] = []
  readonly #ranks: number[] = []
  readonly #positions = new Map<Key, number>()

  get size(): number {
    return this.#keys.length
  }

  /** In no particular order. */
  keys(): Key[] {
    return [...this.#keys]
  }

  rankOf(key: Key): number | undefined {
    const position = this.#positions.get(key)
    return position === undefined ? undefined : this.#ranks[position]
  }

  /** The key of the lowest rank. */
  peek(): { readonly key: Key; readonly rank: number } | undefined {
    return this.#keys.length ? { key: this.#keys[0]!, rank: this.#ranks[0]! } : undefined
  }

  set(key: Key, rank: number): void {
    const position = this.#positions.get(key)
    if (position === undefined) {
      this.#keys.push(key)
      this.#ranks.push(rank)
      this.#positions.set(key, this.#keys.length - 1)
      this.#up(this.#keys.length - 1)
    } else {
      const before = this.#ranks[position]!
      this.#ranks[position] = rank
      if (rank < before) this.#up(position)
      else this.#down(position)
    }
  }

  delete(key: Key): boolean {
    const position = this.#positions.get(key)
    if (position === undefined) return false
    const last = this.#keys.length - 1
    this.#swap(position, last)
    this.#keys.pop()
    this.#ranks.pop()
    this.#positions.delete(key)
    if (position < last) {
      this.#up(position)
      this.#down(position)
    }
    return true
  }

  clear(): void {
    this.#keys.length = 0
    this.#ranks.length = 0
    this.#positions.clear()
  }

  #up(from: number): void {
    let position = from
    while (position > 0) {
      const parent = (position - 1) >> 1
      if (this.#ranks[parent]! <= this.#ranks[position]!) return
      this.#swap(position, parent)
      position = parent
    }
  }

  #down(from: number): void {
    let position = from
    for (;;) {
      let lowest = position
      for (const child of [2 * position + 1, 2 * position + 2])
        if (child < this.#keys.length && this.#ranks[child]! < this.#ranks[lowest]!) lowest = child
      if (lowest === position) return
      this.#swap(position, lowest)
      position = lowest
    }
  }

  #swap(one: number, other: number): void {
    if (one === other) return
    const key = this.#keys[one]!
    const rank = this.#ranks[one]!
    this.#keys[one] = this.#keys[other]!
    this.#ranks[one] = this.#ranks[other]!
    this.#keys[other] = key
    this.#ranks[other] = rank
    this.#positions.set(this.#keys[one]!, one)
    this.#positions.set(key, other)
  }
}
