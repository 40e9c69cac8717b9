// SPDX-License-Identifier: Apache-2.0
import type { PodAffinityTerm, TopologySpreadConstraint } from '@grove/api'
import { selectsNode } from '../filters/node-selector.ts'
import { spreadSelects, termSelects } from '../filters/pod-affinity.ts'
import type { PodNeeds, Snapshot, SnapshotNode, SnapshotPod } from '../types.ts'
import type { Partition, Partitions } from './partitions.ts'
import type { Shape } from './shapes.ts'
import type { NodeIndex } from './usage.ts'

/** Numbers of pods that are still to be scheduled, by shape. */
export type OpenPods = ReadonlyMap<Shape, number>

type Selects = (target: Shape | SnapshotPod) => boolean

/** Selected pods in each domain of one topology key. */
interface Tally {
  readonly partition: Partition
  readonly selects: Selects
  /** One byte for each node whose pods count. Undefined if the pods of all nodes count. */
  readonly counted: Uint8Array | undefined
  readonly counts: Int32Array
  total: number
}

interface Rules {
  /** No selected pod may be in the domain. */
  readonly repelling: readonly Tally[]
  /** A selected pod must be in the domain of every tally. */
  readonly attracting: readonly Tally[]
  readonly spread: readonly (Tally & {
    readonly maxSkew: number
    readonly eligible: readonly number[]
    readonly isFree: boolean
  })[]
  /** Anti-affinity of other shapes against this one: no such pod may be in the domain. */
  readonly repelledBy: readonly Tally[]
}

/**
 * Rules between pods that this plan schedules together: pod affinity, anti-affinity beyond one node, and topology
 * spread. They apply to the final state of a gang: pods of one gang may satisfy the affinity of each other.
 */
export class Coupling {
  readonly #snapshot: Snapshot
  readonly #nodeIndex: NodeIndex
  readonly #partitions: Partitions
  readonly #waiting: readonly Shape[]
  readonly #tolerates: (needs: PodNeeds, node: SnapshotNode) => boolean
  readonly #rules = new Map<Shape, Rules>()
  readonly #tallies: Tally[] = []
  readonly #isCoupled = new Map<Shape, boolean>()
  readonly #placed = new Map<Shape, Map<number, number>>()

  constructor(
    snapshot: Snapshot,
    nodeIndex: NodeIndex,
    partitions: Partitions,
    waiting: readonly Shape[],
    tolerates: (needs: PodNeeds, node: SnapshotNode) => boolean,
  ) {
    this.#snapshot = snapshot
    this.#nodeIndex = nodeIndex
    this.#partitions = partitions
    this.#waiting = waiting
    this.#tolerates = tolerates
  }

  /** A rule between this shape and pods that are not bound yet needs a search at node level. */
  isCoupled(shape: Shape): boolean {
    let found = this.#isCoupled.get(shape)
    if (found === undefined) {
      const { namespaceLabels } = this.#snapshot
      const { needs } = shape
      const selects = (owner: Shape, term: PodAffinityTerm, target: Shape) =>
        termSelects(term, owner, target, namespaceLabels)
      found =
        needs.spread.length > 0 ||
        needs.podAffinity.some(term => this.#waiting.some(other => selects(shape, term, other))) ||
        this.#waiting.some(other =>
          [
            ...needs.podAntiAffinity.filter(term => selects(shape, term, other)),
            ...other.needs.podAntiAffinity.filter(term => selects(other, term, shape)),
          ].some(({ topologyKey }) => !this.#isOneNode(topologyKey)),
        )
      this.#isCoupled.set(shape, found)
    }
    return found
  }

  #isOneNode(key: string): boolean {
    const { domains, domainOf } = this.#partitions.ofKey([], key)
    return key === 'kubernetes.io/hostname' && domains.length === domainOf.length
  }

  /** Records that pods were put on a node or taken off it. */
  changed(shape: Shape, node: number, count: number): void {
    let byNode = this.#placed.get(shape)
    if (!byNode) {
      byNode = new Map()
      this.#placed.set(shape, byNode)
    }
    byNode.set(node, (byNode.get(node) ?? 0) + count)
    for (const tally of this.#tallies) if (tally.selects(shape)) add(tally, node, count)
  }

  /** Reports whether a pod may join the present pods, while `open` pods are not placed yet. */
  allows(shape: Shape, node: number, open: OpenPods): boolean {
    const { repelling, attracting, spread, repelledBy } = this.#rulesOf(shape)
    const isIn = ({ partition, counts }: Tally) => {
      const domain = partition.domainOf[node]!
      return domain >= 0 && counts[domain]! > 0
    }
    if (repelling.some(isIn) || repelledBy.some(isIn)) return false
    for (const tally of attracting) {
      if (tally.partition.domainOf[node]! < 0) return false
      const isFirst = tally.total === 0 && tally.selects(shape)
      if (!isIn(tally) && !isFirst && selectedOf(open, tally.selects) === 0) return false
    }
    return spread.every(rule => {
      const domain = rule.partition.domainOf[node]!
      if (domain < 0) return false
      const least = rule.counts[domain]! + (rule.selects(shape) ? 1 : 0) - rule.maxSkew
      if (rule.isFree) return least <= 0
      let missing = 0
      for (const other of rule.eligible)
        if (other !== domain) missing += Math.max(0, least - rule.counts[other]!)
      return missing === 0 || missing <= selectedOf(open, rule.selects)
    })
  }

  /** Reports whether the rules of a pod hold on its node. */
  holds(shape: Shape, node: number): boolean {
    const { attracting, spread } = this.#rulesOf(shape)
    const isAttracted = attracting.every(({ partition, counts, total, selects }) => {
      const self = selects(shape) ? 1 : 0
      const domain = partition.domainOf[node]!
      return counts[domain]! - self > 0 || (self === 1 && total === 1)
    })
    return (
      isAttracted &&
      spread.every(({ partition, counts, maxSkew, eligible, isFree }) => {
        const least = isFree ? 0 : Math.min(...eligible.map(domain => counts[domain]!))
        return counts[partition.domainOf[node]!]! - least <= maxSkew
      })
    )
  }

  #rulesOf(shape: Shape): Rules {
    let rules = this.#rules.get(shape)
    if (!rules) {
      const { namespaceLabels } = this.#snapshot
      const { podAffinity, podAntiAffinity, spread } = shape.needs
      const selectsAll: Selects = target =>
        podAffinity.every(term => termSelects(term, shape, target, namespaceLabels))
      const repelledBy = this.#waiting.flatMap(owner =>
        owner.needs.podAntiAffinity
          .filter(term => termSelects(term, owner, shape, namespaceLabels))
          // Bound owners are a static filter.
          .map(({ topologyKey }) => this.#tally(topologyKey, other => other === owner, [])),
      )
      rules = {
        repelledBy,
        repelling: podAntiAffinity.map(term =>
          this.#tally(term.topologyKey, other => termSelects(term, shape, other, namespaceLabels), []),
        ),
        attracting: podAffinity.map(({ topologyKey }) =>
          this.#tally(topologyKey, selectsAll, this.#snapshot.boundPods),
        ),
        spread: spread.map(constraint => this.#spreadRule(shape, constraint)),
      }
      this.#rules.set(shape, rules)
    }
    return rules
  }

  /** For each spread constraint of the shape: pods on the node count. */
  countsOn(shape: Shape, node: number): number[] {
    if (shape.needs.spread.length === 0) return []
    return this.#rulesOf(shape).spread.map(({ counted }) => counted![node]!)
  }

  /**
   * As Kubernetes does, counts only pods on nodes that have the topology keys of all constraints and that the node policies of
   * the constraint include.
   */
  #spreadRule(shape: Shape, constraint: TopologySpreadConstraint): Rules['spread'][number] {
    const { nodes, boundPods } = this.#snapshot
    const live = boundPods.filter(({ terminating }) => !terminating)
    const keys = shape.needs.spread.map(({ topologyKey }) => topologyKey)
    const counted = Uint8Array.from(nodes, node => {
      if (!keys.every(key => Object.hasOwn(node.labels, key))) return 0
      if (constraint.nodeAffinityPolicy !== 'Ignore' && !selectsNode(shape.needs, node)) return 0
      return constraint.nodeTaintsPolicy !== 'Honor' || this.#tolerates(shape.needs, node) ? 1 : 0
    })
    const selects: Selects = other => spreadSelects(constraint, shape, other)
    const tally = this.#tally(constraint.topologyKey, selects, live, counted)
    const eligible = new Set(tally.partition.domainOf.filter((_, node) => counted[node]))
    // Spreads the properties of the tally by reference: `counts` stays shared with it.
    return Object.assign(tally, {
      maxSkew: constraint.maxSkew,
      eligible: [...eligible],
      isFree: eligible.size < (constraint.minDomains ?? 1),
    })
  }

  #tally(key: string, selects: Selects, bound: readonly SnapshotPod[], counted?: Uint8Array): Tally {
    const partition = this.#partitions.ofKey([], key)
    const counts = new Int32Array(partition.domains.length)
    const tally: Tally = { partition, selects, counted, counts, total: 0 }
    for (const pod of bound) {
      const node = this.#nodeIndex.get(pod.node ?? '')
      if (node !== undefined && selects(pod)) add(tally, node, 1)
    }
    for (const [shape, byNode] of this.#placed)
      if (selects(shape)) for (const [node, count] of byNode) add(tally, node, count)
    this.#tallies.push(tally)
    return tally
  }
}

function add(tally: Tally, node: number, count: number): void {
  if (tally.counted && !tally.counted[node]) return
  tally.total += count
  const domain = tally.partition.domainOf[node]!
  if (domain >= 0) tally.counts[domain]! += count
}

function selectedOf(open: OpenPods, selects: Selects): number {
  let sum = 0
  for (const [shape, count] of open) if (count > 0 && selects(shape)) sum += count
  return sum
}
