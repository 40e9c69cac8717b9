// SPDX-License-Identifier: Apache-2.0
import type { Model } from './model.ts'
import type { Partition } from './partitions.ts'
import type { Shape } from './shapes.ts'

/** An entry in a list of changed nodes: shapes with shared claims may have other room on every node. */
export const allNodes = -1

/** A node with more room than this counts as having this much, so that sums stay exact. */
const mostRoom = 2 ** 24

/** More free devices than this count as this many, so that ranks stay exact. */
const mostIdle = 2 ** 6 - 1

/**
 * The rank of a node for pods of a shape; the lowest comes first. Nodes without free devices that the shape does not use
 * come first, because a pod without devices can make devices of its node useless. Then nodes in use, to keep the others
 * whole. Then the fewest free devices, then the tightest.
 */
export function rankOf(model: Model, shape: Shape, node: number, room: number): number {
  const idle = Math.min(model.idleDevices(shape, node), mostIdle)
  const unused = model.podsOn[node]! > 0 ? 0 : 1
  return (((idle > 0 ? 2 : 0) + unused) * (mostIdle + 1) + idle) * mostRoom * 2 + room
}

/**
 * The number of pods of one shape that each node holds now, with sums over the domains of partitions. A change of one
 * node costs one recomputation and one addition for each partition.
 */
export class ShapeRoom {
  readonly caps: Int32Array
  readonly #model: Model
  readonly #shape: Shape
  readonly #sums = new Map<Partition, Float64Array>()
  #total = 0
  #seen = -1
  #queue: NodeQueue | undefined

  constructor(model: Model, shape: Shape) {
    this.#model = model
    this.#shape = shape
    this.caps = new Int32Array(model.nodeCount)
  }

  /** Applies the changes since the last call. `changes` only grows. */
  refresh(changes: readonly number[]): void {
    const isShared = this.#shape.shared.length > 0
    const isStale =
      this.#seen < 0 ||
      // A scan of all nodes costs less than the updates.
      changes.length - this.#seen > this.caps.length ||
      (isShared && changes.includes(allNodes, this.#seen))
    if (isStale) for (let node = 0; node < this.caps.length; node++) this.#update(node)
    else
      for (let i = this.#seen; i < changes.length; i++) if (changes[i] !== allNodes) this.#update(changes[i]!)
    this.#seen = changes.length
  }

  #update(node: number): void {
    const cap = Math.min(this.#model.capacity(this.#shape, node), mostRoom)
    const change = cap - this.caps[node]!
    this.#queue?.changed(node, cap)
    if (change === 0) return
    this.caps[node] = cap
    this.#total += change
    for (const [{ domainOf }, sums] of this.#sums) {
      const domain = domainOf[node]!
      if (domain >= 0) sums[domain]! += change
    }
  }

  get total(): number {
    return this.#total
  }

  /** Room in each domain of the partition. */
  sums(partition: Partition): Float64Array {
    let sums = this.#sums.get(partition)
    if (!sums) {
      sums = new Float64Array(partition.domains.length)
      for (let node = 0; node < this.caps.length; node++) {
        const domain = partition.domainOf[node]!
        if (domain >= 0) sums[domain]! += this.caps[node]!
      }
      this.#sums.set(partition, sums)
    }
    return sums
  }

  /** Nodes of the whole cluster for `count` pods by rank, then by position. */
  best(count: number): number[] {
    this.#queue ??= new NodeQueue(this.#model, this.#shape, this.caps)
    return this.#queue.first(count, this.caps)
  }
}

/** A heap of nodes by rank and position. Entries that a change made obsolete are dropped when they surface. */
class NodeQueue {
  readonly #model: Model
  readonly #shape: Shape
  /** Current key of each node; infinite if the node has no room. */
  readonly #keys: Float64Array
  readonly #heap: number[] = []
  readonly #nodeCount: number

  constructor(model: Model, shape: Shape, caps: Int32Array) {
    this.#model = model
    this.#shape = shape
    this.#nodeCount = caps.length
    this.#keys = new Float64Array(caps.length).fill(Number.POSITIVE_INFINITY)
    caps.forEach((cap, node) => {
      this.changed(node, cap)
    })
  }

  changed(node: number, cap: number): void {
    const key =
      cap === 0
        ? Number.POSITIVE_INFINITY
        : rankOf(this.#model, this.#shape, node, cap) * this.#nodeCount + node
    if (key === this.#keys[node]) return
    this.#keys[node] = key
    if (cap > 0) this.#push(key)
  }

  first(count: number, caps: Int32Array): number[] {
    const found: number[] = []
    let left = count
    let last = -1
    const taken: number[] = []
    while (left > 0 && this.#heap.length > 0) {
      const key = this.#pop()
      const node = key % this.#nodeCount
      if (key === last || key !== this.#keys[node]) continue
      last = key
      taken.push(key)
      found.push(node)
      left -= caps[node]!
    }
    for (const key of taken) this.#push(key)
    return found
  }

  #push(key: number): void {
    const heap = this.#heap
    let at = heap.length
    heap.push(key)
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (heap[parent]! <= key) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = key
  }

  #pop(): number {
    const heap = this.#heap
    const top = heap[0]!
    const moved = heap.pop()!
    const size = heap.length
    if (size === 0) return top
    let at = 0
    while (true) {
      let child = at * 2 + 1
      if (child >= size) break
      if (child + 1 < size && heap[child + 1]! < heap[child]!) child++
      if (heap[child]! >= moved) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = moved
    return top
  }
}
