// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import type { Partition } from '../model/partitions.ts'
import type { Budget, NodeMask } from '../solver/index.ts'
import { type GangTask, preferringScopes, taskOf } from './gang-demand.ts'
import { type Placement, placeWith, scoreOfPlacement } from './place.ts'
import { domainMask } from './replica-domain.ts'
import type { Scope } from './scopes.ts'
import { scoreOf } from './score.ts'

/** The gangs at these positions of the snapshot that still need nodes. */
export function companionsOf(model: Model, positions: readonly number[]): GangTask[] {
  return positions
    .map(index => taskOf(model, model.snapshot.gangs[index]!, index, true))
    .filter(({ minimum }) => minimum.some(pods => pods.length > 0))
}

/** The nodes of the domain that the base gang uses at its required level. */
export function replicaMask(base: GangTask, nodes: readonly number[]): NodeMask | undefined {
  const partition = base.scope.required?.partition
  if (!partition || nodes.length === 0) return undefined
  const domains = new Set(nodes.map(node => partition.domainOf[node]!))
  domains.delete(-1)
  return domains.size === 0 ? undefined : domainMask(partition, domains)
}

/** Places a base gang in a domain that also holds its scaled gangs, if that costs no score. */
export function placeWithCompanions(
  model: Model,
  task: GangTask,
  companions: readonly GangTask[],
  score: number,
  placement: Placement,
  budget: Budget,
): Placement | undefined {
  const partition: Partition | undefined = task.scope.required?.partition
  if (!partition || companions.length === 0 || task.running.some(nodes => nodes.length > 0)) return undefined
  const outcome = placeWith(model, task, companions, budget, {
    widening: wideningOf(task, placement),
    uncounted: true,
    wrap: scope => ({ partition: undefined, buckets: [], children: [{ ...scope, partition }] }),
  })
  return accepted(outcome, task, score)
}

/** Places a scaled gang in the domain of its base gang, if that costs no score. */
export function placeInMask(
  model: Model,
  task: GangTask,
  mask: NodeMask,
  score: number,
  placement: Placement,
  budget: Budget,
): Placement | undefined {
  const widening = wideningOf(task, placement)
  return accepted(placeWith(model, task, [], budget, { widening, uncounted: true, mask }), task, score)
}

function accepted(
  outcome: ReturnType<typeof placeWith>,
  task: GangTask,
  score: number,
): Placement | undefined {
  if (outcome.kind !== 'placed') return undefined
  const [placement] = outcome.placements
  return placement && scoreOfPlacement(task, placement) >= score - 1e-12 ? placement : undefined
}

/** The widening that a placement has. */
function wideningOf(task: GangTask, placement: Placement): ReadonlyMap<Scope, number> | undefined {
  const scopes = preferringScopes(task)
  if (scopes.length === 0) return undefined
  return new Map(
    scopes.map(scope => {
      const nodes = scope.groups.flatMap(group => [
        ...task.running[group]!,
        ...placement.filter(placed => placed.group === group).map(({ node }) => node),
      ])
      return [scope, scoreOf(scope.preferred!, nodes).widened]
    }),
  )
}
