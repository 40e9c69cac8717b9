// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import type { Partition } from '../model/partitions.ts'
import { rankOf } from '../model/shape-room.ts'
import type { Shape } from '../model/shapes.ts'
import type { Budget } from './budget.ts'
import type { Bucket, DemandScope } from './demand.ts'
import type { Assignment } from './solver.ts'

/** Nodes that a scope is confined to; undefined for the whole cluster. */
export type Region = Int32Array | undefined

/** Domains tried for one scope. The exact solver decides if none of them works. */
const mostTries = 8

/**
 * Places a demand without backtracking: the largest scopes first, each in the tightest domain that can hold it. A
 * result is valid. A missing result proves nothing.
 */
export function construct(model: Model, scope: DemandScope, budget: Budget): Assignment | undefined {
  const attempt = new Construction(model, budget)
  try {
    return attempt.place(scope, undefined) ? attempt.assignment : undefined
  } finally {
    attempt.release()
  }
}

export class Construction {
  readonly assignment: Assignment = new Map()
  readonly #model: Model
  readonly #budget: Budget
  readonly #placed: { readonly bucket: Bucket; readonly node: number; readonly count: number }[] = []

  constructor(model: Model, budget: Budget) {
    this.#model = model
    this.#budget = budget
  }

  place(scope: DemandScope, region: Region): boolean {
    const { partition } = scope
    if (!partition) return this.#placeContent(scope, region)
    const mark = this.#placed.length
    let tries = 0
    for (const nodes of this.#candidates(scope, partition, region)) {
      if (++tries > mostTries) return false
      if (this.#placeContent(scope, nodes)) return true
      this.revert(mark)
    }
    return false
  }

  revert(mark: number): void {
    while (this.#placed.length > mark) {
      const { bucket, node, count } = this.#placed.pop()!
      this.#model.place(bucket.shape, node, -count)
      this.assignment.get(bucket.id)!.length -= count
    }
  }

  /** Removes the pods from the nodes. The assignment stays. */
  release(): void {
    for (const { bucket, node, count } of this.#placed.splice(0))
      this.#model.place(bucket.shape, node, -count)
  }

  #placeContent(scope: DemandScope, region: Region): boolean {
    const { scopes, buckets } = contentOf(scope)
    for (const child of scopes) if (!this.place(child, region)) return false
    for (const bucket of buckets) if (!this.fill(bucket, region)) return false
    return true
  }

  /** Fills nodes of the region with the pods of the bucket, by rank. */
  fill(bucket: Bucket, region: Region, count = bucket.count): boolean {
    if (count === 0) return true
    this.#budget.spend(1)
    const room = this.#model.roomOf(bucket.shape)
    if (room.total < count) return false
    const { caps } = room
    const nodes = region || bucket.mask ? bestOf(this.#model, caps, bucket, region, count) : room.best(count)
    let left = count
    const chosen = this.assignment.get(bucket.id) ?? []
    this.assignment.set(bucket.id, chosen)
    for (const node of nodes) {
      const taken = Math.min(left, caps[node]!)
      for (let i = 0; i < taken; i++) chosen.push(node)
      this.#placed.push({ bucket, node, count: taken })
      this.#model.place(bucket.shape, node, taken)
      left -= taken
      if (left === 0) return true
    }
    return false
  }

  /** Domains that can hold each shape of the scope alone: domains in use first, then the tightest. */
  #candidates(scope: DemandScope, partition: Partition, region: Region): Int32Array[] {
    const needs = shapeCounts(scope)
    const inside = region ? membersWithin(partition, region) : partition.members
    const sums = needs.map(({ shape }) => {
      const room = this.#model.roomOf(shape)
      if (!region) return room.sums(partition)
      return inside.map(nodes => {
        let sum = 0
        for (const node of nodes) sum += room.caps[node]!
        return sum
      })
    })
    const found: { nodes: Int32Array; unused: number; room: number }[] = []
    for (let domain = 0; domain < inside.length; domain++) {
      const nodes = inside[domain]!
      if (nodes.length === 0 || !needs.every(({ count }, i) => sums[i]![domain]! >= count)) continue
      let room = 0
      for (const sum of sums) room += sum[domain]!
      found.push({ nodes, unused: isInUse(this.#model, nodes) ? 0 : 1, room })
    }
    this.#budget.spend(1 + (found.length >> 4))
    found.sort((a, b) => a.unused - b.unused || a.room - b.room || a.nodes[0]! - b.nodes[0]!)
    return found.map(({ nodes }) => nodes)
  }
}

export function isInUse({ podsOn }: Model, nodes: Int32Array): boolean {
  for (const node of nodes) if (podsOn[node]! > 0) return true
  return false
}

function bestOf(
  model: Model,
  caps: Int32Array,
  { shape, mask }: Bucket,
  region: Region,
  count: number,
): number[] {
  const useful: number[] = []
  const add = (node: number) => {
    if (caps[node]! > 0 && (!mask || mask.nodes[node])) useful.push(node)
  }
  if (region) for (const node of region) add(node)
  else for (let node = 0; node < caps.length; node++) add(node)
  const ranks = new Map(useful.map(node => [node, rankOf(model, shape, node, Math.min(caps[node]!, count))]))
  return useful.sort((a, b) => ranks.get(a)! - ranks.get(b)! || a - b)
}

/** Nodes of the region by domain. */
function membersWithin(partition: Partition, region: Int32Array): Int32Array[] {
  const members = new Map<number, number[]>()
  for (const node of region) {
    const domain = partition.domainOf[node]!
    if (domain < 0) continue
    const nodes = members.get(domain)
    if (nodes) nodes.push(node)
    else members.set(domain, [node])
  }
  return [...members].sort(([a], [b]) => a - b).map(([, nodes]) => Int32Array.from(nodes))
}

/** Scopes and buckets directly inside a scope, the largest first. Scopes without a partition are part of it. */
function contentOf(scope: DemandScope): { scopes: DemandScope[]; buckets: Bucket[] } {
  const scopes: DemandScope[] = []
  const buckets: Bucket[] = []
  const collect = (part: DemandScope) => {
    buckets.push(...part.buckets)
    for (const child of part.children)
      if (child.partition) scopes.push(child)
      else collect(child)
  }
  collect(scope)
  if (scopes.length > 1) {
    const sizes = new Map(scopes.map(child => [child, podCount(child)]))
    scopes.sort((a, b) => sizes.get(b)! - sizes.get(a)!)
  }
  if (buckets.length > 1) buckets.sort((a, b) => sizeOf(b.shape) - sizeOf(a.shape))
  return { scopes, buckets }
}

function podCount({ buckets, children }: DemandScope): number {
  let sum = 0
  for (const { count } of buckets) sum += count
  for (const child of children) sum += podCount(child)
  return sum
}

/** Compares shapes that request several resources: the product of the amounts, on a logarithmic scale. */
function sizeOf({ amounts }: Shape): number {
  return amounts.reduce((sum, amount) => sum + Math.log1p(amount), 0)
}

function shapeCounts(scope: DemandScope): { shape: Shape; count: number }[] {
  const counts = new Map<Shape, number>()
  const add = ({ buckets, children }: DemandScope) => {
    for (const { shape, count } of buckets) if (count > 0) counts.set(shape, (counts.get(shape) ?? 0) + count)
    children.forEach(add)
  }
  add(scope)
  return [...counts].map(([shape, count]) => ({ shape, count }))
}
