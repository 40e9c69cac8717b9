// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import type { Budget } from './budget.ts'
import type { EntityType } from './demand.ts'
import type { Vector } from './profile.ts'

/** All combinations of pods that one node holds and to which no pod can be added. With a beam, only greedy ones. */
export function nodePatterns(
  model: Model,
  types: readonly EntityType[],
  node: number,
  demand: Vector,
  budget: Budget,
  beam: number,
): Vector[] {
  const pods = types.flatMap(type => (type.kind === 'pod' && demand[type.id]! > 0 ? [type] : []))
  const resources = [...new Set(pods.flatMap(({ shape }) => shape.resources))]
  const width = resources.length
  const free = Float64Array.from(resources, resource => model.freeOf(node, resource))
  /** The request of each pod for each resource, one row for each pod. */
  const amounts = new Float64Array(pods.length * width)
  pods.forEach(({ shape }, position) => {
    shape.resources.forEach((resource, i) => {
      amounts[position * width + resources.indexOf(resource)] = shape.amounts[i]!
    })
  })
  /** Pods that cannot run next to the pod, by position. Mostly none. */
  const conflicts = pods.map(one =>
    pods.flatMap((other, position) => (model.conflict(one.shape, other.shape) ? [position] : [])),
  )
  const chosen = new Int32Array(demand.length)
  const found: Vector[] = []

  const room = (position: number): number => {
    let most = demand[pods[position]!.id]!
    for (let i = 0, at = position * width; i < width; i++, at++)
      if (amounts[at]! > 0) {
        if (amounts[at]! > free[i]!) return 0
        const fits = Math.floor(free[i]! / amounts[at]!)
        if (fits < most) most = fits
      }
    for (const other of conflicts[position]!) {
      if (other === position) most = Math.min(most, 1)
      else if (chosen[pods[other]!.id]! > 0) most = 0
    }
    return Math.max(0, most)
  }
  const change = (position: number, count: number): void => {
    if (count === 0) return
    chosen[pods[position]!.id]! += count
    for (let i = 0, at = position * width; i < width; i++, at++) free[i]! -= amounts[at]! * count
  }
  /** A combination to which a pod can be added is covered by another one, and there can be millions of them. */
  const isMaximal = (): boolean => {
    next: for (let position = 0; position < pods.length; position++) {
      const { id } = pods[position]!
      if (chosen[id]! >= demand[id]!) continue
      for (let i = 0, at = position * width; i < width; i++, at++) if (amounts[at]! > free[i]!) continue next
      if (conflicts[position]!.some(other => chosen[pods[other]!.id]! > 0)) continue
      return false
    }
    return true
  }

  const choose = (from: number): void => {
    let position = from
    let most = 0
    // Types without room are most of them once the node is nearly full. Each is one step.
    while (position < pods.length) {
      most = room(position)
      if (most > 0) break
      position++
    }
    budget.spend(position - from + 1)
    if (position === pods.length) {
      if (isMaximal()) found.push(chosen.slice())
      return
    }
    // The last type takes all that is left: any smaller count is covered.
    const least = position === pods.length - 1 ? most : 0
    for (let count = most; count >= least; count--) {
      change(position, count)
      choose(position + 1)
      change(position, -count)
    }
  }

  if (Number.isFinite(beam)) {
    for (let first = 0; first < pods.length; first++) {
      const order = pods.map((_, i) => (first + i) % pods.length)
      const counts = order.map(position => {
        const count = room(position)
        change(position, count)
        return count
      })
      budget.spend(pods.length)
      found.push(chosen.slice())
      order.forEach((position, i) => {
        change(position, -counts[i]!)
      })
    }
  } else choose(0)
  return found
}
