// SPDX-License-Identifier: Apache-2.0

// Decides which item is next: in turn among owners, then within an owner as in fair-order.ts. An owner with many
// urgent items delays only itself; items of other owners, urgent or not, get their turn.
import { Chain, type Link } from './chain.ts'
import { FairOrder, type Shares, type Waiting } from './fair-order.ts'

interface Line<Item extends Waiting> {
  readonly owner: string
  readonly order: FairOrder<Item>
  turn: Link<Line<Item>>
}

export class OwnerTurns<Item extends Waiting> {
  /** Owners with waiting items; the first is next. */
  readonly #turns = new Chain<Line<Item>>()
  readonly #lines = new Map<string, Line<Item>>()
  readonly #shares: Shares | undefined
  #size = 0

  /** Non-default shares of the priorities within an owner. */
  constructor(shares?: Shares) {
    this.#shares = shares
  }

  get size(): number {
    return this.#size
  }

  push(item: Item): void {
    let line = this.#lines.get(item.owner)
    if (!line) {
      const created = { owner: item.owner, order: new FairOrder<Item>(this.#shares) } as Line<Item>
      created.turn = this.#turns.push(created)
      this.#lines.set(item.owner, created)
      line = created
    }
    line.order.push(item)
    this.#size++
  }

  pop(): Item | undefined {
    const line = this.#turns.shift()
    if (!line) return undefined
    const item = line.order.pop()
    this.#size--
    if (line.order.size === 0) this.#lines.delete(line.owner)
    else line.turn = this.#turns.push(line)
    return item
  }

  /** Removes a waiting item. */
  remove(item: Item): void {
    const line = this.#lines.get(item.owner)!
    line.order.remove(item)
    this.#size--
    if (line.order.size > 0) return
    this.#turns.remove(line.turn)
    this.#lines.delete(line.owner)
  }
}
