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
    const indexes = new Map<string, number>()
    const domains: string[][] = []
    this.#nodes.forEach(({ labels }, node) => {
      const values: string[] = []
      for (const key of keys) {
        const value = Object.hasOwn(labels, key) ? labels[key] : undefined
        if (value === undefined) return
        values.push(value)
      }
      const tuple = JSON.stringify(values)
      let domain = indexes.get(tuple)
      if (domain === undefined) {
        domain = domains.length
        indexes.set(tuple, domain)
        domains.push(values)
      }
      domainOf[node] = domain
    })
    const partition = { id: this.all.length, keys, domainOf, domains }
    this.all.push(partition)
    this.#byKeys.set(name, partition)
    return partition
  }
}
