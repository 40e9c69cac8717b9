// SPDX-License-Identifier: Apache-2.0

import { Chain } from '../queue/chain.ts'

/**
 * Three queues with one limit. Lane 0 is served first. When all are full, the oldest item of the last lane is
 * dropped.
 */
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

  /** Returns the dropped item. It may be the new one, if all queued items are more important. */
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

  /** Returns the next item of the first `lanes` lanes. */
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
