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
  const free = resources.map(resource => model.freeOf(node, resource))
  const amounts = pods.map(({ shape }) =>
    resources.map(resource => {
      const at = shape.resources.indexOf(resource)
      return at < 0 ? 0 : shape.amounts[at]!
    }),
  )
  const conflicts = pods.map(one => pods.map(other => model.conflict(one.shape, other.shape)))
  const chosen = new Int32Array(demand.length)
  const found: Vector[] = []

  const room = (position: number): number => {
    let most = demand[pods[position]!.id]!
    for (let i = 0; i < free.length; i++) {
      const amount = amounts[position]![i]!
      if (amount > 0) most = Math.min(most, Math.floor(free[i]! / amount))
    }
    for (let other = 0; other < pods.length && most > 0; other++) {
      if (!conflicts[position]![other]) continue
      if (other === position) most = Math.min(most, 1)
      else if (chosen[pods[other]!.id]! > 0) most = 0
    }
    return Math.max(0, most)
  }
  const change = (position: number, count: number): void => {
    chosen[pods[position]!.id]! += count
    for (let i = 0; i < free.length; i++) free[i]! -= amounts[position]![i]! * count
  }

  const choose = (position: number): void => {
    budget.spend(1)
    if (position === pods.length) {
      found.push(chosen.slice())
      return
    }
    const most = room(position)
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
