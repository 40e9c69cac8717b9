// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import { Budget } from '../solver/index.ts'
import { balanced } from './balance.ts'
import { type GangTask, minimumChoices, needsOthers, preferringScopes } from './gang-demand.ts'
import { apply, type Placement, placeBest, placeWith, revert, scoreOfPlacement } from './place.ts'
import { withReplicaDomain } from './replica-domain.ts'

/** A gang that was accepted in this cycle, with its nodes. */
export interface Accepted {
  readonly task: GangTask
  placement: Placement
  score: number
  /** No placement has a higher score. */
  best: boolean
}

export type Acceptance =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'rejected'; readonly steps: number }
  | { readonly kind: 'unknown'; readonly steps: number }

/** Improves a placement without changing its score; returns undefined if no improvement exists. */
export type Refine = (
  task: GangTask,
  placement: Placement,
  score: number,
  budget: Budget,
) => Placement | undefined

/**
 * Accepts a gang if and only if the minima of all accepted gangs and of this gang fit together. Accepted gangs that are
 * not bound yet may get other nodes.
 */
export function accept(
  model: Model,
  accepted: Accepted[],
  task: GangTask,
  limits: { readonly gang: number; readonly cycle: Budget },
  refine?: Refine,
): Acceptance {
  if (task.isUniform) return acceptChoice(model, accepted, task, limits, refine)
  const { tasks, complete } = minimumChoices(model, task)
  let isProved = complete
  let steps = 0
  for (const choice of tasks) {
    const outcome = acceptChoice(model, accepted, choice, limits, refine)
    if (outcome.kind === 'accepted') {
      const at = accepted.findIndex(entry => entry.task === choice)
      accepted[at] = withChoice(accepted[at]!)
      return outcome
    }
    steps += outcome.steps
    if (outcome.kind === 'unknown') isProved = false
  }
  return { kind: isProved ? 'rejected' : 'unknown', steps }
}

/** Accepts a gang with given pods as its minimum. */
function acceptChoice(
  model: Model,
  accepted: Accepted[],
  task: GangTask,
  limits: { readonly gang: number; readonly cycle: Budget },
  refine?: Refine,
): Acceptance {
  const budget = new Budget(limits.gang, limits.cycle)
  const own = withReplicaDomain(task, accepted)
  const alone = placeBest(model, own, [], budget)
  if (alone.kind === 'placed') {
    const [found] = alone.placements
    const placement = balanced(model, own, refine?.(own, found!, alone.score, budget) ?? found!)
    apply(model, placement)
    accepted.push({ task, placement, score: alone.score, best: alone.best })
    return { kind: 'accepted' }
  }
  if (accepted.length === 0)
    return { kind: alone.kind === 'impossible' ? 'rejected' : 'unknown', steps: budget.steps }
  if (budget.isUsedUp) return { kind: 'unknown', steps: budget.steps }

  // Second attempt: without the gangs accepted in this cycle, then together with them.
  for (const { placement } of accepted) revert(model, placement)
  if (!needsOthers(model, task)) {
    const empty = placeWith(model, task, [], budget, {})
    if (empty.kind !== 'placed') {
      for (const { placement } of accepted) apply(model, placement)
      return { kind: empty.kind === 'impossible' ? 'rejected' : 'unknown', steps: budget.steps }
    }
  }
  const { choices, complete } = jointChoices(model, accepted)
  let isProved = complete
  for (const others of choices) {
    const together = placeWith(model, task, others, budget, {})
    if (together.kind === 'unknown') isProved = false
    if (together.kind !== 'placed') continue
    const isUniform = accepted.map(entry => entry.task.isUniform)
    const [own, ...known] = together.placements
    placeInOrder(model, accepted, [...others, task], [...known, own!], budget)
    isUniform.forEach((uniform, at) => {
      if (!uniform) accepted[at] = withChoice(accepted[at]!)
    })
    return { kind: 'accepted' }
  }
  for (const { placement } of accepted) apply(model, placement)
  return { kind: isProved ? 'rejected' : 'unknown', steps: budget.steps }
}

/** Another choice of pods may have a better score, or leave more room for later gangs. */
function withChoice(entry: Accepted): Accepted {
  return { ...entry, task: { ...entry.task, isUniform: false }, best: false }
}

/** At most this many combinations of minima are tried. */
const mostJointChoices = 64

/** The accepted gangs with every combination of the pods that form their minima; the present one comes first. */
function jointChoices(
  model: Model,
  accepted: readonly Accepted[],
): { readonly choices: readonly (readonly GangTask[])[]; readonly complete: boolean } {
  let choices: (readonly GangTask[])[] = [accepted.map(({ task }) => task)]
  let complete = true
  for (const [position, { task }] of accepted.entries()) {
    if (task.isUniform) continue
    const own = minimumChoices(model, task)
    const isPresent = ({ minimum }: GangTask) =>
      minimum.every((pods, group) => pods.every((pod, at) => pod === task.minimum[group]![at]))
    const tasks = own.tasks.toSorted((left, right) => Number(isPresent(right)) - Number(isPresent(left)))
    const all = choices.flatMap(chosen => tasks.map(one => chosen.with(position, one)))
    if (!own.complete || all.length > mostJointChoices) complete = false
    choices = all.slice(0, mostJointChoices)
  }
  return { choices, complete }
}

/**
 * Maximizes the scores in order, while all later gangs still fit. Falls back to a placement that is known to fit. Every
 * placement of a gang without preferred levels has the same score, so it keeps the known one: a search with all later gangs
 * for each of thousands of gangs would take minutes.
 */
function placeInOrder(
  model: Model,
  accepted: Accepted[],
  tasks: readonly GangTask[],
  known: readonly Placement[],
  budget: Budget,
): void {
  accepted.length = 0
  let fallback = known
  tasks.forEach((task, i) => {
    const own = withReplicaDomain(task, accepted)
    const hasPreference = preferringScopes(own).length > 0
    let isBest = !hasPreference
    if (hasPreference && !budget.isUsedUp) {
      const later = tasks.slice(i + 1).map(other => withReplicaDomain(other, accepted))
      const outcome = placeBest(model, own, later, budget)
      if (outcome.kind === 'placed') fallback = [...fallback.slice(0, i), ...outcome.placements]
      isBest = outcome.kind === 'placed' && outcome.best
    }
    const placement = own.gang.isBalanced
      ? balanced(model, own, fallback[i]!, fallback.slice(i + 1))
      : fallback[i]!
    apply(model, placement)
    accepted.push({ task, placement, score: scoreOfPlacement(task, placement), best: isBest })
  })
}
