// SPDX-License-Identifier: Apache-2.0

// The changes that would let a waiting gang run. Each kind of change is a function in this folder.
import type { Model } from '../../model/model.ts'
import type { Cycle, GangResult } from '../../planner/cycle.ts'
import { type GangTask, taskOf } from '../../planner/gang-demand.ts'
import { apply, revert } from '../../planner/place.ts'
import { allScopes } from '../../planner/scopes.ts'
import type { Fix, Gang, SnapshotPod } from '../../types.ts'
import { domainsOf } from '../evidence.ts'
import { heldBefore, knownPlacements, wouldBeAccepted } from '../trial.ts'
import { applyFix } from '../variants.ts'
import type { FixAllowance } from './allowance.ts'
import { lowerMinAvailable, relaxTopology } from './constraints.ts'
import { deletePods } from './delete-pods.ts'
import { addNodes, uncordon } from './nodes.ts'
import type { Search } from './search.ts'
import { addToleration, removeTaint } from './taints.ts'

const mostFixes = 5

/**
 * Searches fixes of each kind by rising cost and returns the cheapest of each kind, cheapest first. A fix is listed only
 * if planning the changed snapshot accepts the gang.
 */
export function fixesFor(
  cycle: Cycle,
  index: number,
  limit: number,
  allowance: FixAllowance,
  isAsked: (gang: Gang) => boolean,
): Fix[] {
  const { model } = cycle
  const { snapshot } = model
  const known = knownPlacements(cycle)
  const held = heldBefore(cycle, index).map(({ pods }) => pods)
  allowance.begin(
    cycle.results.filter(({ kind }, at) => kind === 'unschedulable' && isAsked(snapshot.gangs[at]!)).length,
  )
  // Candidates of a fix are searched among all nodes and pods, which is of no use without a trial.
  if (!allowance.mayTry) return []
  const works = (fix: Fix): boolean =>
    allowance.take(snapshot) && wouldBeAccepted(applyFix(snapshot, index, fix), known, held, index, limit)
  const found = withoutLater(cycle, index, () => {
    const task = taskOf(model, snapshot.gangs[index]!, index)
    const search: Search = {
      model,
      task,
      shapes: new Set(possibleMinimum(task).map(pod => model.shapes.of(pod))),
      snapshot,
      gang: snapshot.gangs[index]!,
      nearest: nearestFirst(model, task),
      hasEarlier: cycle.results.slice(0, index).some(({ kind }) => kind === 'accepted'),
      isMonotone: !model.readsOtherPods && !cycle.results.slice(0, index).some(isWaiting),
      works,
    }
    // Kinds with one candidate for each object come first, so that a fix of cost 1 is found before the allowance ends.
    return [relaxTopology, lowerMinAvailable, uncordon, removeTaint, addToleration, addNodes, deletePods]
      .map(kind => (allowance.mayTry ? kind(search) : undefined))
      .filter(fix => fix !== undefined)
  })
  return found.sort((left, right) => left.cost - right.cost || rank(left) - rank(right)).slice(0, mostFixes)
}

/** All pods that can be part of the minimum. */
function possibleMinimum({ gang, minimum, isUniform }: GangTask): readonly SnapshotPod[] {
  if (isUniform) return minimum.flat()
  return gang.groups.flatMap((group, i) => (minimum[i]!.length > 0 ? group.candidates : []))
}

function isWaiting({ kind }: GangResult): boolean {
  return kind === 'unschedulable'
}

/** Calls `search` while the model holds no pods of later gangs and no surplus: a gang that is accepted comes before them. */
function withoutLater<Result>(cycle: Cycle, index: number, search: () => Result): Result {
  const { model, results, surplus, reservations } = cycle
  const later = [
    ...results
      .slice(index + 1)
      .flatMap(result => (result.kind === 'accepted' ? [result.accepted.placement] : [])),
    ...reservations.flatMap(one => (one.index >= index ? [one.placement] : [])),
    surplus.map(({ placed }) => placed),
  ]
  for (const placement of later) revert(model, placement)
  try {
    return search()
  } finally {
    for (const placement of later) apply(model, placement)
  }
}

/** Among fixes of equal cost, the ones that change no workload come first. */
const order: readonly Fix['op'][] = [
  'Uncordon',
  'RemoveTaint',
  'AddToleration',
  'RelaxTopology',
  'LowerMinAvailable',
  'AddNodes',
  'DeletePods',
]

function rank({ op }: Fix): number {
  return order.indexOf(op)
}

function nearestFirst(model: Model, task: GangTask): number[] {
  const scope = allScopes(task.scope).find(({ required }) => required)
  if (!scope?.required) return Array.from({ length: model.nodeCount }, (_, node) => node)
  const { partition } = scope.required
  const inside = domainsOf(model, task, scope, partition).flatMap(({ nodes }) => [...nodes])
  const seen = new Set(inside)
  for (let node = 0; node < model.nodeCount; node++) if (!seen.has(node)) inside.push(node)
  return inside
}
