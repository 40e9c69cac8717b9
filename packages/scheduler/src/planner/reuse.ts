// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import { type Budget, intersect, type NodeMask } from '../solver/index.ts'
import type { GangTask } from './gang-demand.ts'
import type { Placement } from './place.ts'
import { placeInMask } from './replica-scope.ts'

/**
 * Places a gang where its missing pods ran before, if that costs no score: on the same nodes, else in the same domains, the
 * narrowest first. Images, model caches and network paths are warm there. `within` keeps the gang in its replica's domain.
 */
export function placeOnFormerNodes(
  model: Model,
  task: GangTask,
  score: number,
  placement: Placement,
  within: NodeMask | undefined,
  budget: Budget,
): Placement | undefined {
  const nodes = task.gang.formerNodes.flatMap(name => model.nodeIndex.get(name) ?? [])
  if (nodes.length === 0) return undefined
  const { levels } = task.gang
  const masks = [nodeMask(model.nodeCount, nodes)]
  for (let level = levels.length - 1; level >= 0; level--) {
    const { id, domainOf } = model.partitions.ofLevel(levels, level)
    const domains = new Set(nodes.map(node => domainOf[node]!))
    domains.delete(-1)
    masks.push({
      id: `former ${id}:${[...domains].sort((a, b) => a - b).join('+')}`,
      nodes: Uint8Array.from(domainOf, domain => (domains.has(domain) ? 1 : 0)),
    })
  }
  for (const mask of masks) {
    const allowed = within ? intersect(within, mask) : mask
    const found = placeInMask(model, task, allowed, score, placement, budget)
    if (found) return found
  }
  return undefined
}

function nodeMask(count: number, nodes: readonly number[]): NodeMask {
  const allowed = new Uint8Array(count)
  for (const node of nodes) allowed[node] = 1
  return { id: `former nodes ${[...nodes].sort((a, b) => a - b).join()}`, nodes: allowed }
}
