// SPDX-License-Identifier: Apache-2.0
import { Model } from '../model/model.ts'
import type { Shape } from '../model/shapes.ts'
import { Budget } from '../solver/index.ts'
import type { Gang, Policy, Snapshot } from '../types.ts'
import { type Accepted, accept, type Refine } from './accept.ts'
import { type GangTask, need, taskOf } from './gang-demand.ts'
import type { PlacedPod } from './place.ts'
import { type Obstacle, obstacleOf } from './precheck.ts'
import { companionsOf, placeInMask, placeWithCompanions, replicaMask } from './replica-scope.ts'
import { placeSurplus, type SatisfiedGang } from './surplus.ts'

export type GangResult =
  | { readonly kind: 'satisfied'; readonly task: GangTask }
  | { readonly kind: 'accepted'; readonly task: GangTask; readonly accepted: Accepted }
  | { readonly kind: 'obstacle'; readonly obstacle: Obstacle }
  | {
      readonly kind: 'unschedulable'
      readonly task: GangTask
      readonly proved: boolean
      readonly steps: number
      /** Gangs that were accepted before this one in this cycle. */
      readonly before: readonly GangTask[]
    }

/** The result of one pass over all gangs, before it is written down as a decision. */
export interface Cycle {
  readonly model: Model
  readonly results: readonly GangResult[]
  readonly surplus: readonly { readonly task: GangTask; readonly placed: PlacedPod }[]
  readonly budget: Budget
}

export function isSatisfied(gang: Gang): boolean {
  return gang.groups.every(group => need(group) === 0)
}

export function runCycle(snapshot: Snapshot, policy: Policy): Cycle {
  const model = new Model(snapshot)
  const waiting = waitingShapes(model)
  const budget = new Budget(policy.budget.cycle)
  const accepted: Accepted[] = []
  const satisfiedBases = new Set<string>()
  const key = (namespace: string, name: string) => `${namespace}/${name}`
  const isBaseSatisfied = (gang: Gang) => satisfiedBases.has(key(gang.namespace, gang.baseGang ?? ''))
  for (const gang of snapshot.gangs) if (isSatisfied(gang)) satisfiedBases.add(key(gang.namespace, gang.name))

  const decided = snapshot.gangs.map((gang, index) => {
    const obstacle = obstacleOf(model, gang, waiting, isBaseSatisfied)
    if (isSatisfied(gang)) return { kind: 'satisfied' as const, task: taskOf(model, gang, index) }
    if (obstacle) return { kind: 'obstacle' as const, obstacle }
    const task = taskOf(model, gang, index)
    const before = accepted.map(other => other.task)
    const outcome = accept(
      model,
      accepted,
      task,
      { gang: policy.budget.gang, cycle: budget },
      refineFor(gang),
    )
    if (outcome.kind === 'accepted') return { kind: 'accepted' as const, task }
    return {
      kind: 'unschedulable' as const,
      task,
      proved: outcome.kind === 'rejected',
      steps: outcome.steps,
      before,
    }
  })
  const byIndex = new Map(accepted.map(entry => [entry.task.index, entry]))
  const results = decided.map((result): GangResult => {
    if (result.kind !== 'accepted') return result
    const entry = byIndex.get(result.task.index)!
    return { kind: 'accepted', task: entry.task, accepted: entry }
  })
  const satisfied = results.flatMap((result): SatisfiedGang[] => {
    if (result.kind !== 'satisfied' && result.kind !== 'accepted') return []
    const nodes = result.task.running.map(running => [...running])
    if (result.kind === 'accepted')
      for (const { group, node } of result.accepted.placement) nodes[group]!.push(node)
    return [{ task: result.task, nodes }]
  })
  return { model, results, surplus: placeSurplus(model, satisfied, waiting), budget }

  /** Keeps the gangs of one PodCliqueSet replica in one domain where this costs no score. */
  function refineFor(gang: Gang): Refine {
    return (task, placement, score, gangBudget) => {
      if (gang.baseGang === undefined) {
        const companions = companionsOf(model, task, name =>
          accepted.some(other => other.task.gang.name === name),
        )
        return placeWithCompanions(model, task, companions, score, placement, gangBudget)
      }
      const position = snapshot.gangs.findIndex(
        other => other.namespace === gang.namespace && other.name === gang.baseGang,
      )
      if (position < 0) return undefined
      const base = taskOf(model, snapshot.gangs[position]!, position)
      const own = accepted.find(other => other.task.index === position)
      const nodes = [...base.running.flat(), ...(own?.placement ?? []).map(({ node }) => node)]
      const mask = replicaMask(base, nodes)
      return mask && placeInMask(model, task, mask, score, placement, gangBudget)
    }
  }
}

/** Shapes of all pods that this plan may place. */
export function waitingShapes(model: Model): Shape[] {
  const shapes = new Set<Shape>()
  for (const { groups } of model.snapshot.gangs)
    for (const { candidates, gated } of groups)
      for (const pod of [...candidates, ...gated]) shapes.add(model.shapes.of(pod))
  return [...shapes]
}
