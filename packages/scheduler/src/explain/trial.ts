// SPDX-License-Identifier: Apache-2.0
import { Model, type Relaxation } from '../model/model.ts'
import { isSatisfied, waitingShapes } from '../planner/cycle.ts'
import { type GangTask, taskOf } from '../planner/gang-demand.ts'
import { apply, type Placement, placeWith, revert } from '../planner/place.ts'
import { obstacleOf } from '../planner/precheck.ts'
import { Budget } from '../solver/index.ts'
import type { Gang, Snapshot } from '../types.ts'

export type Answer = 'yes' | 'no' | 'unknown'

/** Gangs that are placed together in a changed cluster, with required levels only. */
export class Trial {
  readonly model: Model
  readonly #placed: { task: GangTask; placement: Placement }[] = []
  readonly #limit: number
  steps = 0

  constructor(snapshot: Snapshot, relaxed: ReadonlySet<Relaxation>, limit: number) {
    this.model = new Model(snapshot, relaxed)
    this.#limit = limit
  }

  /** Adds a gang if its minimum fits together with the gangs added before; these may get other nodes. */
  add(task: GangTask): Answer {
    const budget = new Budget(this.#limit)
    const answer = this.#add(task, budget)
    this.steps += Math.min(budget.steps, budget.limit)
    return answer
  }

  #add(task: GangTask, budget: Budget): Answer {
    const alone = placeWith(this.model, task, [], budget, {})
    if (alone.kind === 'placed') {
      apply(this.model, alone.placements[0]!)
      this.#placed.push({ task, placement: alone.placements[0]! })
      return 'yes'
    }
    if (this.#placed.length === 0) return alone.kind === 'impossible' ? 'no' : 'unknown'
    for (const { placement } of this.#placed) revert(this.model, placement)
    const others = this.#placed.map(entry => entry.task)
    const together = placeWith(this.model, task, others, budget, {})
    if (together.kind === 'placed')
      this.#placed.splice(
        0,
        this.#placed.length,
        ...[task, ...others].map((member, i) => ({ task: member, placement: together.placements[i]! })),
      )
    for (const { placement } of this.#placed) apply(this.model, placement)
    if (together.kind === 'placed') return 'yes'
    return together.kind === 'impossible' ? 'no' : 'unknown'
  }
}

/** A change of the cluster that a counterfactual makes. */
export interface Counterfactual {
  readonly snapshot: Snapshot
  readonly relaxed?: ReadonlySet<Relaxation>
  /** Positions of gangs that are accepted first and kept. */
  readonly before: readonly number[]
}

/** Reports whether the minimum of a gang would fit in a changed cluster. */
export function wouldFit(
  { snapshot, relaxed = new Set(), before }: Counterfactual,
  gang: number,
  limit: number,
): Answer {
  const trial = new Trial(snapshot, relaxed, limit)
  for (const index of before) trial.add(taskOf(trial.model, snapshot.gangs[index]!, index))
  return trial.add(taskOf(trial.model, snapshot.gangs[gang]!, gang))
}

/** Reports whether a gang would be accepted in a changed cluster, after all gangs that come before it. */
export function wouldBeAccepted(snapshot: Snapshot, gang: number, limit: number): boolean {
  const trial = new Trial(snapshot, new Set(), limit)
  const waiting = waitingShapes(trial.model)
  const satisfied = new Set(
    snapshot.gangs.filter(isSatisfied).map(({ namespace, name }) => `${namespace}/${name}`),
  )
  const isBaseSatisfied = ({ namespace, baseGang }: Gang) => satisfied.has(`${namespace}/${baseGang}`)
  for (let index = 0; index <= gang; index++) {
    const candidate = snapshot.gangs[index]!
    const isIdle = isSatisfied(candidate) || obstacleOf(trial.model, candidate, waiting, isBaseSatisfied)
    const answer = isIdle ? undefined : trial.add(taskOf(trial.model, candidate, index))
    if (index === gang) return answer === 'yes' || isSatisfied(candidate)
  }
  return false
}
