// SPDX-License-Identifier: Apache-2.0
import type { Level, SnapshotNode } from '../types.ts'

/** The domains of one level: the tuple of label values identifies a domain. */
export interface Partition {
  readonly id: number
  /** Label keys, broadest first. */
  readonly keys: readonly string[]
  /** Index of the domain of each node; -1 for a node outside every domain. */
  readonly domainOf: Int32Array
  /** Label values of each domain. */
  readonly domains: readonly (readonly string[])[]
  /** Nodes of each domain, ascending. */
  readonly members: readonly Int32Array[]
}

/** Counterfactuals often keep the list of nodes, so partitions belong to the list and not to a model. */
const known = new WeakMap<readonly SnapshotNode[], Partitions>()

/** `before` is the list that the nodes were added to, if there is one. Its partitions are extended. */
export function partitionsOf(nodes: readonly SnapshotNode[], before?: readonly SnapshotNode[]): Partitions {
  let partitions = known.get(nodes)
  if (!partitions) {
    partitions = new Partitions(nodes, before && partitionsOf(before))
    known.set(nodes, partitions)
  }
  return partitions
}

/** Computes partitions of the nodes on demand, each once. */
export class Partitions {
  readonly #nodes: readonly SnapshotNode[]
  readonly #byKeys = new Map<string, Partition>()
  readonly all: Partition[] = []
  /** Partitions of the first nodes of the list. */
  readonly #before: Partitions | undefined
  /** Domains by the domain of the broader keys and by value. */
  readonly #indexes = new Map<Partition, readonly (ReadonlyMap<string, number> | undefined)[]>()

  constructor(nodes: readonly SnapshotNode[], before?: Partitions) {
    this.#nodes = nodes
    this.#before = before
  }

  /** A key that is no level of the binding is compared by its value alone. */
  ofKey(levels: readonly Level[], key: string): Partition {
    const position = levels.findIndex(level => level.key === key)
    return position < 0 ? this.#of([key]) : this.ofLevel(levels, position)
  }

  ofLevel(levels: readonly Level[], position: number): Partition {
    return this.#of(levels.slice(0, position + 1).map(({ key }) => key))
  }

  #of(keys: readonly string[]): Partition {
    const name = JSON.stringify(keys)
    const own = this.#byKeys.get(name)
    if (own) return own
    const known = this.#before ? this.#before.#of(keys) : undefined
    const from = known?.domainOf.length ?? 0
    const domainOf = new Int32Array(this.#nodes.length).fill(-1, from)
    if (known) domainOf.set(known.domainOf)
    const domains: (readonly string[])[] = known ? [...known.domains] : []
    const members: (Int32Array | number[])[] = known ? [...known.members] : []
    // A domain is a value within a domain of the broader keys, so no tuple of values has to be built for each node.
    const broader = keys.length > 1 ? this.#of(keys.slice(0, -1)) : undefined
    const key = keys.at(-1)!
    const knownIndexes = known && this.#before!.#indexes.get(known)
    const indexes: Map<string, number>[] = []
    for (let node = from; node < this.#nodes.length; node++) {
      const { labels } = this.#nodes[node]!
      const parent = broader ? broader.domainOf[node]! : 0
      const value = Object.hasOwn(labels, key) ? labels[key] : undefined
      if (parent < 0 || value === undefined) continue
      indexes[parent] ??= new Map()
      let domain = indexes[parent].get(value) ?? knownIndexes?.[parent]?.get(value)
      if (domain === undefined) {
        domain = domains.length
        indexes[parent].set(value, domain)
        domains.push(broader ? [...broader.domains[parent]!, value] : [value])
        members.push([])
      }
      domainOf[node] = domain
      const inside = members[domain]!
      if (Array.isArray(inside)) inside.push(node)
      else members[domain] = [...inside, node]
    }
    const partition = {
      id: this.all.length,
      keys,
      domainOf,
      domains,
      members: members.map(nodes => (Array.isArray(nodes) ? Int32Array.from(nodes) : nodes)),
    }
    this.all.push(partition)
    this.#byKeys.set(name, partition)
    this.#indexes.set(partition, indexes)
    return partition
  }
}
