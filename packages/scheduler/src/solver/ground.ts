// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import type { Partition } from '../model/partitions.ts'
import { Capacity } from './capacity.ts'
import type { Demand, EntityCount } from './demand.ts'
import { type Domain, domainTree } from './tree.ts'

/** The parts that all solvers of one demand share: the tree of domains, node classes and upper bounds. */
export interface Ground {
  readonly tree: Domain
  /** Position of each partition in the tags of domains, by partition id. */
  readonly bits: ReadonlyMap<number, number>
  readonly totals: Int32Array
  readonly capacity: Capacity
}

export function groundOf(model: Model, demand: Demand, partitions: readonly Partition[]): Ground {
  const bits = new Map(partitions.map(({ id }, bit) => [id, bit]))
  const tree = domainTree(model.partitions, partitions, model.nodeCount)
  const totals = totalsOf(demand)
  return { tree, bits, totals, capacity: new Capacity(model, demand, totals, bits, domainCount(tree)) }
}

/** No placement exists, by upper bounds alone: entities of one type, then all pods by resource. */
export function isImpossible({ tree, capacity }: Ground, { rootCounts }: Demand): boolean {
  return rootCounts.some(({ type, count }) => capacity.bound(tree, type) < count) || capacity.isShort()
}

/** Counts the occurrences of each type in the whole demand. */
function totalsOf({ types, rootCounts }: Demand): Int32Array {
  const totals = new Int32Array(types.length)
  const add = (parts: readonly EntityCount[], times: number) => {
    for (const { type, count } of parts) {
      totals[type]! += count * times
      const entity = types[type]!
      if (entity.kind === 'scope') add(entity.content, count * times)
    }
  }
  add(rootCounts, 1)
  return totals
}

function domainCount(domain: Domain): number {
  return domain.children.reduce((count, child) => count + domainCount(child), 1)
}
