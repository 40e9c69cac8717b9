// SPDX-License-Identifier: Apache-2.0
import { Model, type Relaxation } from '../model/model.ts'
import { type Cycle, isSatisfied } from '../planner/cycle.ts'
import { type GangTask, taskOf } from '../planner/gang-demand.ts'
import { apply, type Placement, placeWith, revert } from '../planner/place.ts'
import { obstacleOf } from '../planner/precheck.ts'
import { withReplicaDomain } from '../planner/replica-domain.ts'
import type { Reservation } from '../planner/reserve.ts'
import { Budget } from '../solver/index.ts'
import type { Gang, Snapshot, SnapshotPod } from '../types.ts'

export type TrialResult = 'yes' | 'no' | 'unknown'

/** Nodes of a gang by name, because a fix may add nodes. */
export type KnownPlacement = readonly {
  readonly pod: SnapshotPod
  readonly group: number
  readonly node: string
}[]

/** The gangs that a cycle accepted, by position. */
export type Known = ReadonlyMap<number, KnownPlacement>

const knownOf = new WeakMap<Cycle, Known>()

export function knownPlacements(cycle: Cycle): Known {
  const known = knownOf.get(cycle) ?? newKnownPlacements(cycle)
  knownOf.set(cycle, known)
  return known
}

function newKnownPlacements({ model, results }: Cycle): Known {
  const known = new Map<number, KnownPlacement>()
  results.forEach((result, index) => {
    if (result.kind === 'accepted') known.set(index, byName(model, result.accepted.placement))
  })
  return known
}

function byName({ snapshot }: Model, placement: Placement): KnownPlacement {
  return placement.map(({ pod, group, node }) => ({ pod, group, node: snapshot.nodes[node]!.name }))
}

/** Reservations that gangs before the gang at `index` hold. */
export function heldBefore(
  { model, reservations }: Cycle,
  index: number,
): { readonly reservation: Reservation; readonly pods: KnownPlacement }[] {
  return reservations
    .filter(reservation => reservation.index < index)
    .map(reservation => ({ reservation, pods: byName(model, reservation.placement) }))
}

/**
 * Gangs that are placed together in a changed cluster, with required levels only. The model knows these gangs alone: it
 * reads all of their pods, and there is a trial for every waiting gang.
 */
export class Trial {
  readonly model: Model
  readonly #placed: { task: GangTask; placement: Placement }[] = []
  readonly #limit: number
  steps = 0

  constructor(
    snapshot: Snapshot,
    gangs: readonly Gang[],
    relaxed: ReadonlySet<Relaxation>,
    held: readonly KnownPlacement[],
    limit: number,
  ) {
    this.model = new Model({ ...snapshot, gangs }, relaxed)
    this.#limit = limit
    for (const pods of held) apply(this.model, this.#placementOf(pods))
  }

  #placementOf(known: KnownPlacement): Placement {
    return known.map(({ pod, group, node }) => ({ pod, group, node: this.model.nodeIndex.get(node)! }))
  }

  /** Adds a gang on nodes where it is known to fit. */
  keep(task: GangTask, known: KnownPlacement): void {
    const placement = this.#placementOf(known)
    apply(this.model, placement)
    this.#placed.push({ task, placement })
  }

  /** Adds a gang if its minimum fits together with the gangs added before; these may get other nodes. */
  add(task: GangTask): TrialResult {
    const budget = new Budget(this.#limit)
    const result = this.#add(task, budget)
    this.steps += Math.min(budget.steps, budget.limit)
    return result
  }

  #add(task: GangTask, budget: Budget): TrialResult {
    const alone = placeWith(this.model, withReplicaDomain(task, this.#placed), [], budget, {})
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

/** A change of the cluster that a counterfactual makes. It only removes obstacles, so known placements stay valid. */
export interface Counterfactual {
  readonly snapshot: Snapshot
  readonly relaxed?: ReadonlySet<Relaxation>
  /** Positions of gangs that are accepted first and kept. */
  readonly before: readonly number[]
  readonly known: Known
  /** Reservations that stay. */
  readonly held: readonly KnownPlacement[]
}

/** Reports whether the minimum of a gang would fit in a changed cluster. */
export function wouldFit(change: Counterfactual, gang: number, limit: number): TrialResult {
  const { snapshot, relaxed = new Set(), before, known, held } = change
  const gangs = [...before, gang].map(index => snapshot.gangs[index]!)
  // Empty nodes have no reservations either.
  const trial = new Trial(snapshot, gangs, relaxed, relaxed.has('boundPods') ? [] : held, limit)
  for (const index of before)
    trial.keep(taskOf(trial.model, snapshot.gangs[index]!, index), known.get(index) ?? [])
  return trial.add(taskOf(trial.model, snapshot.gangs[gang]!, gang))
}

/**
 * Reports whether a gang would be accepted in a changed cluster, after all gangs before it. Gangs keep their nodes
 * until an earlier gang, which did not fit before the change, is accepted.
 */
export function wouldBeAccepted(
  snapshot: Snapshot,
  known: Known,
  held: readonly KnownPlacement[],
  gang: number,
  limit: number,
): boolean {
  const trial = new Trial(snapshot, snapshot.gangs.slice(0, gang + 1), new Set(), held, limit)
  const satisfied = new Set(
    snapshot.gangs.filter(isSatisfied).map(({ namespace, name }) => `${namespace}/${name}`),
  )
  const isBaseSatisfied = ({ namespace, baseGang }: Gang) => satisfied.has(`${namespace}/${baseGang}`)
  let isChanged = false
  for (let index = 0; index <= gang; index++) {
    const candidate = snapshot.gangs[index]!
    if (isSatisfied(candidate)) {
      if (index === gang) return true
      continue
    }
    if (obstacleOf(candidate, isBaseSatisfied)) continue
    const task = taskOf(trial.model, candidate, index)
    const placement = known.get(index)
    if (placement && !isChanged) {
      trial.keep(task, placement)
      continue
    }
    const result = trial.add(task)
    if (index === gang) return result === 'yes'
    if (result === 'yes') isChanged = true
  }
  return false
}
