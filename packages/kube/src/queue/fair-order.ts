// SPDX-License-Identifier: Apache-2.0

// Decides which key is next: by priority, then in turn among owners, then by arrival. Promised under any load:
// - no starvation: a priority with waiting keys gets its share of the turns (see `Shares`);
// - within a priority, every owner with waiting keys gets one turn before any owner gets its second;
// - keys of one owner and priority keep their order.
// All operations are O(1). Not promised: fairness in time; a slow key costs one turn like a fast one.
import { Chain, type Link } from './chain.ts'

/**
 * `user`: a user waits for it (a spec changed). `normal`: the cluster changed (a pod became ready). `background`:
 * resync, garbage collection.
 */
export type Priority = 'user' | 'normal' | 'background'

/** Number of turns of each priority while all have waiting keys. Others take the turns of an empty one. */
export type Shares = Readonly<Record<Priority, number>>

const defaultShares: Shares = { user: 16, normal: 4, background: 1 }

/** From the most to the least urgent. */
export const priorities: readonly Priority[] = ['user', 'normal', 'background']

export function moreUrgent(one: Priority, other: Priority): Priority {
  return priorities.indexOf(one) <= priorities.indexOf(other) ? one : other
}

/** A waiting item. It knows its position, so that it can be moved. */
export interface Waiting {
  readonly owner: string
  priority: Priority
  place?: Link<Waiting> | undefined
}

/** The keys of one owner within one priority, in order of arrival. */
interface OwnerLine {
  readonly owner: string
  readonly items: Chain<Waiting>
  turn: Link<OwnerLine>
}

interface Band {
  /** Owners with waiting keys; the first is next. */
  readonly turns: Chain<OwnerLine>
  readonly lines: Map<string, OwnerLine>
  /** Stride scheduling: the band with the lowest pass is next, and each turn adds its stride. */
  pass: number
  readonly stride: number
}

export class FairOrder<Item extends Waiting> {
  readonly #bands: Readonly<Record<Priority, Band>>
  /** The pass of the band that had the last turn; an empty band joins there. */
  #pass = 0
  #size = 0

  constructor(shares: Shares = defaultShares) {
    this.#bands = {
      user: newBand(shares.user),
      normal: newBand(shares.normal),
      background: newBand(shares.background),
    }
  }

  get size(): number {
    return this.#size
  }

  push(item: Item): void {
    const band = this.#bands[item.priority]
    // An empty band saves no turns. It waits for its first turn as long as between any two.
    if (band.turns.isEmpty) band.pass = Math.max(band.pass, this.#pass + band.stride)
    let line = band.lines.get(item.owner)
    if (!line) {
      const items = new Chain<Waiting>()
      const created = { owner: item.owner, items } as OwnerLine
      created.turn = band.turns.push(created)
      band.lines.set(item.owner, created)
      line = created
    }
    item.place = line.items.push(item)
    this.#size++
  }

  /** Raises the priority of a waiting item. */
  raise(item: Item, priority: Priority): void {
    if (moreUrgent(priority, item.priority) === item.priority) return
    this.remove(item)
    item.priority = priority
    this.push(item)
  }

  pop(): Item | undefined {
    let next: Band | undefined
    for (const priority of priorities) {
      const band = this.#bands[priority]
      if (!band.turns.isEmpty && (!next || band.pass < next.pass)) next = band
    }
    if (!next) return undefined
    this.#pass = Math.max(this.#pass, next.pass)
    next.pass += next.stride
    const line = next.turns.shift()!
    const item = line.items.shift() as Item
    if (line.items.isEmpty) next.lines.delete(line.owner)
    else line.turn = next.turns.push(line)
    item.place = undefined
    this.#size--
    return item
  }

  /** Removes a waiting item. */
  remove(item: Item): void {
    const band = this.#bands[item.priority]
    const line = band.lines.get(item.owner)!
    line.items.remove(item.place!)
    item.place = undefined
    if (line.items.isEmpty) {
      band.turns.remove(line.turn)
      band.lines.delete(line.owner)
    }
    this.#size--
  }
}

function newBand(share: number): Band {
  return { turns: new Chain(), lines: new Map(), pass: 0, stride: 1 / share }
}
