// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import type { Partition } from '../model/partitions.ts'
import type { Budget } from './budget.ts'
import { Construction, isInUse } from './construct.ts'
import type { Bucket, DemandScope, DomainCounter } from './demand.ts'
import type { Assignment } from './solver.ts'

/** A demand of equal pods, all of which must be in one domain of every partition. */
interface Chain {
  /** The narrowest partition: its domains are inside domains of all others. */
  readonly partition: Partition | undefined
  readonly buckets: readonly Bucket[]
  readonly counter: DomainCounter | undefined
}

export interface ChainResult {
  readonly assignment: Assignment
  /** Number of counted domains, if the demand has a counter. */
  readonly counts: readonly number[]
}

/** Reports whether a demand of equal pods fits, without choosing nodes. Undefined for other demands. */
export function chainFits(model: Model, scope: DemandScope, budget: Budget): boolean | undefined {
  const chain = chainOf(scope)
  if (!chain) return undefined
  const { partition, buckets } = chain
  const count = buckets.reduce((sum, bucket) => sum + bucket.count, 0)
  budget.spend(1)
  return roomIn(model, buckets[0]!, partition).some((room: number) => room >= count)
}

/**
 * Solves a demand of equal pods exactly by sums. A domain holds the pods if and only if its nodes have enough room, and
 * using the largest domains needs the fewest of them. Undefined for other demands.
 */
export function solveChain(
  model: Model,
  scope: DemandScope,
  budget: Budget,
): ChainResult | 'impossible' | undefined {
  const chain = chainOf(scope)
  if (!chain) return undefined
  const { partition, buckets, counter } = chain
  const [first] = buckets
  const count = buckets.reduce((sum, bucket) => sum + bucket.count, 0)
  const all: Bucket = { ...first!, count }
  const candidates = regionsFor(model, all, partition)
  budget.spend(1 + (candidates.length >> 4))
  const [best] = counter ? fewestDomains(model, all, candidates, counter) : candidates
  if (!best) return 'impossible'
  const construction = new Construction(model, budget)
  try {
    const parts = counter
      ? sharesOf(model, all, best.nodes, counter)
      : [{ nodes: best.nodes, count, counted: 0 }]
    for (const part of parts)
      if (!construction.fill(all, part.nodes, part.count))
        throw new Error('a domain with enough room does not hold the pods')
    const nodes = construction.assignment.get(all.id) ?? []
    const assignment: Assignment = new Map()
    let from = 0
    for (const bucket of buckets) {
      assignment.set(bucket.id, nodes.slice(from, from + bucket.count))
      from += bucket.count
    }
    return { assignment, counts: counter ? [parts.reduce((sum, part) => sum + part.counted, 0)] : [] }
  } finally {
    construction.release()
  }
}

function chainOf(scope: DemandScope): Chain | undefined {
  const partitions: Partition[] = []
  let at = scope
  while (true) {
    if (at.partition) partitions.push(at.partition)
    const inside: DemandScope[] = at.children.filter(hasPods)
    if (inside.length !== 1 || at.buckets.some(({ count }) => count > 0)) break
    at = inside[0]!
  }
  const buckets = plainBuckets(at)
  const [first] = buckets ?? []
  if (!buckets || !first || first.counters.length > 1) return undefined
  const isEqual = (bucket: Bucket) =>
    bucket.shape === first.shape &&
    bucket.mask?.id === first.mask?.id &&
    bucket.counters.length === first.counters.length &&
    bucket.counters[0]?.id === first.counters[0]?.id
  if (!buckets.every(isEqual)) return undefined
  const narrowest = partitions.reduce<Partition | undefined>(
    (best, one) => (best && best.keys.length >= one.keys.length ? best : one),
    undefined,
  )
  if (!partitions.every(({ keys }) => keys.every((key, i) => narrowest!.keys[i] === key))) return undefined
  return { partition: narrowest, buckets, counter: first.counters[0] }
}

function hasPods({ buckets, children }: DemandScope): boolean {
  return buckets.some(({ count }) => count > 0) || children.some(hasPods)
}

/** All buckets inside a scope. Undefined if a scope inside has a partition of its own. */
function plainBuckets({ buckets, children }: DemandScope): Bucket[] | undefined {
  const found = buckets.filter(({ count }) => count > 0)
  for (const child of children) {
    if (!hasPods(child)) continue
    const inside = child.partition ? undefined : plainBuckets(child)
    if (!inside) return undefined
    found.push(...inside)
  }
  return found
}

interface CandidateRegion {
  /** Undefined for the whole cluster. */
  readonly nodes: Int32Array | undefined
  readonly room: number
  readonly unused: number
}

/** Regions that hold all pods: in use first, then the tightest. */
function regionsFor(model: Model, all: Bucket, partition: Partition | undefined): CandidateRegion[] {
  const { count } = all
  const sums = roomIn(model, all, partition)
  if (!partition) return sums[0]! < count ? [] : [{ nodes: undefined, room: sums[0]!, unused: 0 }]
  const found: CandidateRegion[] = []
  partition.members.forEach((nodes, domain) => {
    const sum = sums[domain]!
    if (sum >= count) found.push({ nodes, room: sum, unused: isInUse(model, nodes) ? 0 : 1 })
  })
  return found.sort((a, b) => a.unused - b.unused || a.room - b.room || a.nodes![0]! - b.nodes![0]!)
}

/** Room for pods of the bucket in each domain of the partition, or in the whole cluster. */
function roomIn(
  model: Model,
  { shape, mask }: Bucket,
  partition: Partition | undefined,
): readonly number[] | Float64Array {
  const room = model.roomOf(shape)
  const sumOver = (nodes: Iterable<number>) => {
    let sum = 0
    for (const node of nodes) if (mask?.nodes[node]) sum += room.caps[node]!
    return sum
  }
  if (!partition) return [mask ? sumOver(room.caps.keys()) : room.total]
  return mask ? partition.members.map(sumOver) : room.sums(partition)
}

/** Nodes of one counted domain, or one node outside every domain. */
interface Part {
  readonly nodes: Int32Array
  readonly room: number
  /** 0 if the scope runs there already. */
  readonly counted: 0 | 1
  /** Pods of the scope that run there already. */
  readonly running: number
}

function partsOf(
  model: Model,
  { shape, mask }: Bucket,
  nodes: Int32Array | undefined,
  counter: DomainCounter,
): Part[] {
  const { caps } = model.roomOf(shape)
  const { domainOf } = counter.partition
  const groups = new Map<number, { nodes: number[]; room: number }>()
  const add = (node: number) => {
    if (caps[node]! === 0 || (mask && !mask.nodes[node])) return
    const domain = domainOf[node]!
    const key = domain >= 0 ? domain : -1 - node
    const group = groups.get(key)
    if (group) {
      group.nodes.push(node)
      group.room += caps[node]!
    } else groups.set(key, { nodes: [node], room: caps[node]! })
  }
  if (nodes) for (const node of nodes) add(node)
  else for (let node = 0; node < caps.length; node++) add(node)
  return [...groups].map(([key, group]) => {
    const running = (key >= 0 ? counter.usedDomains.get(key) : counter.usedNodes.get(-1 - key)) ?? 0
    return {
      nodes: Int32Array.from(group.nodes),
      room: group.room,
      counted: running > 0 ? 0 : 1,
      running,
    }
  })
}

/** Domains in use cost nothing; of the others the largest ones come first. */
function inOrder(parts: readonly Part[]): Part[] {
  return parts.toSorted((a, b) => a.counted - b.counted || b.room - a.room || a.nodes[0]! - b.nodes[0]!)
}

function fewestDomains(
  model: Model,
  all: Bucket,
  candidates: readonly CandidateRegion[],
  counter: DomainCounter,
): CandidateRegion[] {
  const rated = candidates.map(candidate => {
    let left = all.count
    let domains = 0
    const used: Part[] = []
    for (const part of inOrder(partsOf(model, all, candidate.nodes, counter))) {
      if (left <= 0) break
      left -= part.room
      domains += part.counted
      used.push(part)
    }
    return { candidate, domains, spread: counter.balanced ? spreadOf(used, all.count) : 0 }
  })
  // Sorting keeps the order of candidates with equally many domains.
  return rated.sort((a, b) => a.domains - b.domains || a.spread - b.spread).map(({ candidate }) => candidate)
}

/** The difference between the largest and the smallest share, running pods included, of the most even split. */
function spreadOf(parts: readonly Part[], count: number): number {
  const shares = evenShares(parts, count).map((share, i) => share + parts[i]!.running)
  return Math.max(...shares) - Math.min(...shares)
}

interface Share {
  readonly nodes: Int32Array | undefined
  readonly count: number
  readonly counted: number
}

/** Divides the pods over the fewest domains. The last domain is the tightest that holds the rest. */
function sharesOf(model: Model, all: Bucket, nodes: Int32Array | undefined, counter: DomainCounter): Share[] {
  const parts = inOrder(partsOf(model, all, nodes, counter))
  const chosen: Part[] = []
  let left = all.count
  while (left > 0) {
    const next = parts[chosen.length]!
    chosen.push(next)
    left -= next.room
  }
  if (counter.balanced) {
    const shares = evenShares(chosen, all.count)
    return chosen.map(({ nodes, counted }, i) => ({ nodes, count: shares[i]!, counted }))
  }
  const last = chosen.pop()!
  const rest = left + last.room
  const tightest = parts
    .slice(chosen.length)
    .filter(({ room, counted }) => room >= rest && counted === last.counted)
    .reduce((best, part) => (part.room < best.room ? part : best), last)
  return [
    ...chosen.map(part => ({ nodes: part.nodes, count: part.room, counted: part.counted })),
    { nodes: tightest.nodes, count: rest, counted: tightest.counted },
  ]
}

/**
 * The most even split of new pods over the parts: each pod is placed in the part with the fewest pods that has room. Every part
 * gets a pod if the parts are the fewest that hold all pods.
 */
function evenShares(parts: readonly Part[], count: number): number[] {
  const shares = parts.map(() => 0)
  for (let left = count; left > 0; left--) {
    let at = -1
    parts.forEach(({ room, running }, i) => {
      if (shares[i]! < room && (at < 0 || shares[i]! + running < shares[at]! + parts[at]!.running)) at = i
    })
    shares[at]!++
  }
  return shares
}
