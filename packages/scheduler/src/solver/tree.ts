// SPDX-License-Identifier: Apache-2.0
import type { Partition, Partitions } from '../model/partitions.ts'

/** A domain of one or more partitions, with the domains and the single nodes directly inside it. */
export interface Domain {
  readonly id: number
  readonly parent: Domain | undefined
  readonly children: Domain[]
  /** Nodes that are in no child. */
  readonly nodes: number[]
  /** Partitions that this set of nodes is a domain of, as bits. */
  tags: number
  /** Tags of this domain and of all domains around it. */
  entered: number
}

/**
 * Reports whether every domain of one partition and every domain of the other are nested or disjoint. Levels of one
 * binding always are; keys of different bindings may cross.
 */
export function nested(left: Partition, right: Partition): boolean {
  let known = nestings.get(left)
  if (!known) {
    known = new Map()
    nestings.set(left, known)
  }
  let isNested = known.get(right)
  if (isNested === undefined) {
    isNested = areNested(left, right)
    known.set(right, isNested)
  }
  return isNested
}

const nestings = new WeakMap<Partition, Map<Partition, boolean>>()

function areNested(left: Partition, right: Partition): boolean {
  const sizes = [new Int32Array(left.domains.length), new Int32Array(right.domains.length)] as const
  const shared = new Map<number, number>()
  for (let node = 0; node < left.domainOf.length; node++) {
    const a = left.domainOf[node]!
    const b = right.domainOf[node]!
    if (a >= 0) sizes[0][a]!++
    if (b >= 0) sizes[1][b]!++
    if (a >= 0 && b >= 0) {
      const pair = a * right.domains.length + b
      shared.set(pair, (shared.get(pair) ?? 0) + 1)
    }
  }
  for (const [pair, count] of shared) {
    const a = Math.floor(pair / right.domains.length)
    const b = pair % right.domains.length
    if (count !== sizes[0][a] && count !== sizes[1][b]) return false
  }
  return true
}

/** Trees by the list of nodes, then by the ids of their partitions. */
const trees = new WeakMap<Partitions, Map<string, Domain>>()

/** The tree of the domains of nested partitions. Bit i of a tag stands for the i-th partition. */
export function domainTree(all: Partitions, partitions: readonly Partition[], nodeCount: number): Domain {
  let known = trees.get(all)
  if (!known) {
    known = new Map()
    trees.set(all, known)
  }
  const key = partitions.map(({ id }) => id).join()
  let tree = known.get(key)
  if (!tree) {
    tree = newTree(partitions, nodeCount)
    known.set(key, tree)
  }
  return tree
}

function newTree(partitions: readonly Partition[], nodeCount: number): Domain {
  const sizes = partitions.map(({ domains, domainOf }) => {
    const size = new Int32Array(domains.length)
    for (const domain of domainOf) if (domain >= 0) size[domain]!++
    return size
  })
  let count = 0
  const create = (parent: Domain | undefined, tags: number): Domain => {
    const domain = {
      id: count++,
      parent,
      children: [],
      nodes: [],
      tags,
      entered: tags | (parent?.entered ?? 0),
    }
    parent?.children.push(domain)
    return domain
  }
  const root = create(undefined, 0)
  const known = new Map<string, Domain>()
  for (let node = 0; node < nodeCount; node++) {
    const path: { size: number; bit: number; domain: number }[] = []
    partitions.forEach(({ domainOf }, bit) => {
      const domain = domainOf[node]!
      if (domain >= 0) path.push({ size: sizes[bit]![domain]!, bit, domain })
    })
    path.sort((left, right) => right.size - left.size || left.bit - right.bit)
    let at = root
    for (let i = 0; i < path.length; ) {
      const { size, bit, domain } = path[i]!
      // Nested sets of the same size that share a node are equal.
      let tags = 0
      while (i < path.length && path[i]!.size === size) tags |= 1 << path[i++]!.bit
      const key = `${at.id} ${bit} ${domain}`
      let next = known.get(key)
      if (!next) {
        next = create(at, tags)
        known.set(key, next)
      }
      at = next
    }
    at.nodes.push(node)
  }
  return root
}
