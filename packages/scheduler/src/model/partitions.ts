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

export function partitionsOf(nodes: readonly SnapshotNode[]): Partitions {
  let partitions = known.get(nodes)
  if (!partitions) {
    partitions = new Partitions(nodes)
    known.set(nodes, partitions)
  }
  return partitions
}

/** Computes partitions of the nodes on demand, each once. */
export class Partitions {
  readonly #nodes: readonly SnapshotNode[]
  readonly #byKeys = new Map<string, Partition>()
  readonly all: Partition[] = []

  constructor(nodes: readonly SnapshotNode[]) {
    this.#nodes = nodes
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
    const known = this.#byKeys.get(name)
    if (known) return known
    const domainOf = new Int32Array(this.#nodes.length).fill(-1)
    const domains: string[][] = []
    // A domain is a value within a domain of the broader keys, so no tuple of values has to be built for each node.
    const broader = keys.length > 1 ? this.#of(keys.slice(0, -1)) : undefined
    const key = keys.at(-1)!
    const indexes: Map<string, number>[] = []
    this.#nodes.forEach(({ labels }, node) => {
      const parent = broader ? broader.domainOf[node]! : 0
      const value = Object.hasOwn(labels, key) ? labels[key] : undefined
      if (parent < 0 || value === undefined) return
      indexes[parent] ??= new Map()
      let domain = indexes[parent].get(value)
      if (domain === undefined) {
        domain = domains.length
        indexes[parent].set(value, domain)
        domains.push(broader ? [...broader.domains[parent]!, value] : [value])
      }
      domainOf[node] = domain
    })
    const members = domains.map(() => [] as number[])
    domainOf.forEach((domain, node) => {
      if (domain >= 0) members[domain]!.push(node)
    })
    const partition = {
      id: this.all.length,
      keys,
      domainOf,
      domains,
      members: members.map(nodes => Int32Array.from(nodes)),
    }
    this.all.push(partition)
    this.#byKeys.set(name, partition)
    return partition
  }
}
