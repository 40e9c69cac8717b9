// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import { type GangTask, preferringScopes } from './gang-demand.ts'
import { apply, inRankOrder, type Placement, revert, scoreOfPlacement } from './place.ts'
import { allScopes, type Scope } from './scopes.ts'

const tolerance = 1e-12

/**
 * Splits every scope of a balanced gang evenly between the preferred domains that it uses: moves pods one by one from the
 * domain with the most pods to the one with the fewest that has room. Keeps the score and all required levels. Exact for
 * equal pods; for pods of several shapes an exchange of pods could be more even.
 *
 * The model must not hold the placement. `others` are placements that keep their nodes.
 */
export function balanced(
  model: Model,
  task: GangTask,
  placement: Placement,
  others: readonly Placement[] = [],
): Placement {
  const scopes = task.gang.isBalanced ? preferringScopes(task) : []
  if (scopes.length === 0 || placement.some(({ pod }) => model.isCoupled(model.shapes.of(pod))))
    return placement
  for (const other of others) apply(model, other)
  apply(model, placement)
  const score = scoreOfPlacement(task, placement)
  let current = placement
  for (const scope of scopes)
    while (true) {
      const next = moved(model, task, scope, current, score)
      if (!next) break
      revert(model, current)
      apply(model, next)
      current = next
    }
  revert(model, current)
  for (const other of others) revert(model, other)
  return current === placement ? placement : inRankOrder(model, task, current)
}

/** The placement with one pod moved to a domain with at least two pods less. */
function moved(
  model: Model,
  task: GangTask,
  scope: Scope,
  placement: Placement,
  score: number,
): Placement | undefined {
  const { domainOf } = scope.preferred!.partitions[0]!
  const shares = new Map<number, number>()
  const count = (node: number) => {
    if (domainOf[node]! >= 0) shares.set(domainOf[node]!, (shares.get(domainOf[node]!) ?? 0) + 1)
  }
  for (const group of scope.groups) for (const node of task.running[group]!) count(node)
  for (const { group, node } of placement) if (scope.groups.includes(group)) count(node)
  const bySize = [...shares].sort(([left, a], [right, b]) => b - a || left - right)
  for (const [from, most] of bySize)
    for (const [to, fewest] of bySize.toReversed()) {
      if (most - fewest < 2) break
      const tried = new Set<string>()
      for (const [at, { pod, group, node }] of placement.entries()) {
        if (domainOf[node] !== from || !scope.groups.includes(group)) continue
        const shape = model.shapes.of(pod)
        const kind = `${group} ${shape.id}`
        if (tried.has(kind)) continue
        tried.add(kind)
        for (const target of scope.preferred!.partitions[0]!.members[to]!) {
          if (model.capacity(shape, target) === 0) continue
          const shared = task.replica?.partition.domainOf
          if (shared && shared[target] !== shared[node]) continue
          const next = placement.with(at, { pod, group, node: target })
          if (keepsRequired(task, next, group) && scoreOfPlacement(task, next) >= score - tolerance)
            return next
        }
      }
    }
  return undefined
}

/** Required levels around a group hold for all of its pods. */
function keepsRequired(task: GangTask, placement: Placement, group: number): boolean {
  return allScopes(task.scope).every(({ required, groups }) => {
    if (!required || !groups.includes(group)) return true
    const { domainOf } = required.partition
    const pinned = new Set(groups.flatMap(one => task.running[one]!.map(node => domainOf[node]!)))
    pinned.delete(-1)
    const used = new Set(
      placement.filter(one => groups.includes(one.group)).map(({ node }) => domainOf[node]!),
    )
    if (used.has(-1)) return false
    return pinned.size > 0 ? [...used].every(domain => pinned.has(domain)) : used.size <= 1
  })
}
