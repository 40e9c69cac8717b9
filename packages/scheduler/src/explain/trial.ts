// SPDX-License-Identifier: Apache-2.0
import { Model, type Relaxation } from '../model/model.ts'
import { type Cycle, isSatisfied } from '../planner/cycle.ts'
import { type GangTask, minimumChoices, needsOthers, taskOf } from '../planner/gang-demand.ts'
import { apply, fitsWith, type Placement, placeWith, revert } from '../planner/place.ts'
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

/** The model of the last trial of a cycle, by the placements of the cycle. It holds no pods of the trial any more. */
const lastModels = new WeakMap<Known, Model>()

/**
 * The model of the last trial if it has the same nodes, bound pods, filters and waiting pods. Many fixes change only the
 * constraints or the minimum of a gang, which are not part of a model.
 */
function modelOf(cycle: Known, snapshot: Snapshot, relaxed: ReadonlySet<Relaxation>): Model {
  const last = lastModels.get(cycle)
  if (last && isAlike(last, snapshot, relaxed)) return last
  const model = new Model(snapshot, relaxed)
  lastModels.set(cycle, model)
  return model
}

function isAlike(
  { snapshot: known, relaxed: filters }: Model,
  snapshot: Snapshot,
  relaxed: ReadonlySet<Relaxation>,
): boolean {
  return (
    known.nodes === snapshot.nodes &&
    known.boundPods === snapshot.boundPods &&
    known.namespaceLabels === snapshot.namespaceLabels &&
    filters.symmetricDifference(relaxed).size === 0 &&
    known.gangs.length === snapshot.gangs.length &&
    known.gangs.every(({ groups }, i) => hasSamePods(groups, snapshot.gangs[i]!.groups))
  )
}

function hasSamePods(groups: Gang['groups'], others: Gang['groups']): boolean {
  return (
    groups === others ||
    (groups.length === others.length &&
      groups.every(
        ({ candidates, gated }, i) => candidates === others[i]!.candidates && gated === others[i]!.gated,
      ))
  )
}

/**
 * Gangs that are placed together in a changed cluster, with required levels only. The model knows these gangs alone: it
 * reads all of their pods, and there is a trial for every waiting gang.
 */
class Trial {
  readonly model: Model
  readonly #placed: { task: GangTask; placement: Placement }[] = []
  readonly #held: readonly Placement[]
  readonly #limit: number

  constructor(
    cycle: Known,
    snapshot: Snapshot,
    gangs: readonly Gang[],
    relaxed: ReadonlySet<Relaxation>,
    held: readonly KnownPlacement[],
    limit: number,
  ) {
    this.model = modelOf(cycle, { ...snapshot, gangs }, relaxed)
    this.#limit = limit
    this.#held = held.map(pods => this.#placementOf(pods))
    for (const placement of this.#held) apply(this.model, placement)
  }

  /** Takes all pods of the trial off the model, which the next trial may use. */
  end(): void {
    for (const { placement } of this.#placed.splice(0)) revert(this.model, placement)
    for (const placement of this.#held) revert(this.model, placement)
  }

  #placementOf(known: KnownPlacement): Placement {
    return known.map(({ pod, group, node }) => ({ pod, group, node: this.model.nodeIndex.get(node)! }))
  }

  /** Adds a gang on nodes where it is known to fit. */
  keep(task: GangTask, known: KnownPlacement): void {
    const placement = this.#placementOf(known)
    apply(this.model, placement)
    const minimum = task.gang.groups.map((_, group) =>
      known.filter(placed => placed.group === group).map(({ pod }) => pod),
    )
    this.#placed.push({ task: task.isUniform ? task : { ...task, minimum }, placement })
  }

  /** Reports whether the minimum of a gang fits together with the gangs added before, which may get other nodes. */
  fits(task: GangTask): TrialResult {
    const budget = new Budget(this.#limit)
    return this.#firstChoice(task, choice => this.#fits(choice, budget))
  }

  #fits(task: GangTask, budget: Budget): TrialResult {
    const alone = fitsWith(this.model, withReplicaDomain(task, this.#placed), [], budget)
    if (alone === 'yes' || this.#placed.length === 0) return alone
    for (const { placement } of this.#placed) revert(this.model, placement)
    const others = this.#placed.map(entry => entry.task)
    const together = this.#isHopeless(task, budget) ? 'no' : fitsWith(this.model, task, others, budget)
    for (const { placement } of this.#placed) apply(this.model, placement)
    return together
  }

  /** The gang does not fit even without the others, which the model does not hold now. */
  #isHopeless(task: GangTask, budget: Budget): boolean {
    return !needsOthers(this.model, task) && fitsWith(this.model, task, [], budget) === 'no'
  }

  /** Adds a gang if its minimum fits together with the gangs added before; these may get other nodes. */
  add(task: GangTask): TrialResult {
    const budget = new Budget(this.#limit)
    return this.#firstChoice(task, choice => this.#add(choice, budget))
  }

  /** Tries all choices of the pods that form the minimum: a group may have pods of two templates during an update. */
  #firstChoice(task: GangTask, attempt: (choice: GangTask) => TrialResult): TrialResult {
    if (task.isUniform) return attempt(task)
    const { tasks, complete } = minimumChoices(this.model, task)
    let isProved = complete
    for (const choice of tasks) {
      const result = attempt(choice)
      if (result === 'yes') return 'yes'
      if (result === 'unknown') isProved = false
    }
    return isProved ? 'no' : 'unknown'
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
    if (this.#isHopeless(task, budget)) {
      for (const { placement } of this.#placed) apply(this.model, placement)
      return 'no'
    }
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
  const trial = new Trial(known, snapshot, gangs, relaxed, relaxed.has('boundPods') ? [] : held, limit)
  try {
    for (const index of before)
      trial.keep(taskOf(trial.model, snapshot.gangs[index]!, index), known.get(index) ?? [])
    return trial.fits(taskOf(trial.model, snapshot.gangs[gang]!, gang))
  } finally {
    trial.end()
  }
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
  const trial = new Trial(known, snapshot, snapshot.gangs.slice(0, gang + 1), noRelaxation, held, limit)
  try {
    return isAcceptedIn(trial, snapshot, known, gang)
  } finally {
    trial.end()
  }
}

const noRelaxation: ReadonlySet<Relaxation> = new Set()

function isAcceptedIn(trial: Trial, snapshot: Snapshot, known: Known, gang: number): boolean {
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
    if (index === gang) return trial.fits(task) === 'yes'
    // A gang that loses pods needs nodes for more pods than it got.
    const isKept = placement?.length === task.minimum.flat().length && !isChanged
    if (isKept) trial.keep(task, placement)
    else if (trial.add(task) === 'yes') isChanged = true
    else continue
    satisfied.add(`${candidate.namespace}/${candidate.name}`)
  }
  return false
}
