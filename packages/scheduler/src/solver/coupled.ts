// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import type { Partition } from '../model/partitions.ts'
import type { Shape } from '../model/shapes.ts'
import type { Budget } from './budget.ts'
import type { Bucket, DemandScope } from './demand.ts'
import type { Assignment } from './solver.ts'

/** The domain that the pods of a scope share, once the first of them has a node. */
interface Confinement {
  readonly partition: Partition
  domain: number
  pods: number
}

interface Slot {
  readonly bucket: Bucket
  readonly around: readonly Confinement[]
}

export function isCoupled(model: Model, { buckets, children }: DemandScope): boolean {
  return (
    buckets.some(({ shape, count }) => count > 0 && model.isCoupled(shape)) ||
    children.some(child => isCoupled(model, child))
  )
}

/**
 * Searches pod by pod, with backtracking, for demands whose pods depend on each other. Complete: no result means that
 * no assignment exists. Nodes that are alike for all pods of the demand are tried once.
 */
export function searchNodes(model: Model, scope: DemandScope, budget: Budget): Assignment | undefined {
  const slots = slotsOf(scope, [])
  const coupling = model.coupling
  const assignment: Assignment = new Map()
  const open = new Map<Shape, number>()
  for (const { bucket } of slots) open.set(bucket.shape, (open.get(bucket.shape) ?? 0) + 1)
  const keyOf = nodeKeys(model, slots)
  const chosen: number[] = []
  const finalState = (): boolean =>
    !model.hasRules || slots.every(({ bucket }, i) => coupling.holds(bucket.shape, chosen[i]!))

  const search = (at: number): boolean => {
    if (at === slots.length) return finalState()
    const { bucket, around } = slots[at]!
    const { shape, mask } = bucket
    open.set(shape, open.get(shape)! - 1)
    const tried = new Set<string>()
    // Pods of one bucket are equal: nodes in ascending order are enough.
    const from = slots[at - 1]?.bucket === bucket ? chosen[at - 1]! : 0
    for (let node = from; node < model.nodeCount; node++) {
      if (mask && !mask.nodes[node]) continue
      const isInside = around.every(({ partition, domain, pods }) => {
        const own = partition.domainOf[node]!
        return own >= 0 && (pods === 0 || own === domain)
      })
      if (!isInside || model.capacity(shape, node) === 0) continue
      budget.spend(1)
      if (model.hasRules && !coupling.allows(shape, node, open)) continue
      const key = node === from && at > 0 ? undefined : keyOf(node)
      if (key !== undefined && tried.has(key)) continue
      if (key !== undefined) tried.add(key)
      model.place(shape, node)
      chosen.push(node)
      for (const confinement of around) {
        confinement.domain = confinement.partition.domainOf[node]!
        confinement.pods++
      }
      let isDone = false
      try {
        isDone = search(at + 1)
      } finally {
        // The budget may end the search at any depth, so the model is restored.
        for (const confinement of around) confinement.pods--
        chosen.pop()
        model.place(shape, node, -1)
      }
      if (!isDone) continue
      const nodes = assignment.get(bucket.id) ?? []
      nodes.push(node)
      assignment.set(bucket.id, nodes)
      return true
    }
    open.set(shape, open.get(shape)! + 1)
    return false
  }
  return search(0) ? assignment : undefined
}

function slotsOf(scope: DemandScope, around: readonly Confinement[]): Slot[] {
  const inner = scope.partition ? [...around, { partition: scope.partition, domain: -1, pods: 0 }] : around
  return [
    ...scope.buckets.flatMap(bucket =>
      Array.from({ length: bucket.count }, () => ({ bucket, around: inner })),
    ),
    ...scope.children.flatMap(child => slotsOf(child, inner)),
  ]
}

/**
 * Nodes with equal keys are alike: equal free amounts, equal room for every shape, the same domains of every key that a rule reads,
 * and the same spread constraints count their pods.
 */
function nodeKeys(model: Model, slots: readonly Slot[]): (node: number) => string {
  const shapes = [...new Set(slots.map(({ bucket }) => bucket.shape))]
  const masks = [...new Set(slots.map(({ bucket }) => bucket.mask))]
  const partitions = new Set(slots.flatMap(({ around }) => around.map(({ partition }) => partition)))
  const resources = [
    ...new Set(
      shapes.flatMap(shape => [...shape.resources, ...shape.shared.flatMap(claim => claim.resources)]),
    ),
  ]
  for (const partition of model.rulePartitions()) partitions.add(partition)
  return node =>
    [
      ...resources.map(resource => model.freeOf(node, resource)),
      ...shapes.map(shape => model.capacity(shape, node)),
      ...masks.map(mask => mask?.nodes[node] ?? 1),
      ...[...partitions].map(({ domainOf }) => domainOf[node]),
      ...(model.hasRules ? shapes.flatMap(shape => model.coupling.countsOn(shape, node)) : []),
    ].join()
}
