// SPDX-License-Identifier: Apache-2.0

import { Chain } from '../queue/chain.ts'

/** Three queues with one limit: lane 0 leaves first; when all are full, the oldest of the last lane makes room. */
export class Lanes<Item> {
  readonly #lanes = [new Chain<Item>(), new Chain<Item>(), new Chain<Item>()]
  readonly #limit: number
  #size = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#size
  }

  /** Returns what was dropped for it, which may be the item itself when everything that waits matters more. */
  push(item: Item, lane: number): Item | undefined {
    if (this.#size < this.#limit) {
      this.#size++
      this.#lanes[lane]!.push(item)
      return undefined
    }
    for (let last = this.#lanes.length - 1; last >= lane; last--) {
      const dropped = this.#lanes[last]!.shift()
      if (dropped === undefined) continue
      this.#lanes[lane]!.push(item)
      return dropped
    }
    return item
  }

  /** The next item of the first so many lanes. */
  shift(lanes = this.#lanes.length): Item | undefined {
    for (const lane of this.#lanes.slice(0, lanes)) {
      const item = lane.shift()
      if (item === undefined) continue
      this.#size--
      return item
    }
    return undefined
  }
}
