// SPDX-License-Identifier: Apache-2.0
import { Model } from '../model/model.ts'
import { Budget, withinBudget } from '../solver/index.ts'
import type { Eviction, Gang, Group, Policy, Snapshot, SnapshotPod } from '../types.ts'
import { type Acceptance, type Accepted, accept, type Refine } from './accept.ts'
import { type GangTask, need, taskOf } from './gang-demand.ts'
import { apply, type PlacedPod, type Placement } from './place.ts'
import { type Obstacle, obstacleOf } from './precheck.ts'
import { preemptFor } from './preempt.ts'
import { RejectedDemands } from './rejected-demands.ts'
import { withReplicaScopes } from './replica-domain.ts'
import { companionsOf, placeInMask, placeWithCompanions, replicaMask } from './replica-scope.ts'
import { type Reservation, reserveFor, reservesAt } from './reserve.ts'
import { placeOnFormerNodes } from './reuse.ts'
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

/** The result of one iteration over all gangs, before it becomes a decision. */
export interface Cycle {
  readonly model: Model
  readonly results: readonly GangResult[]
  readonly surplus: readonly { readonly task: GangTask; readonly placed: PlacedPod }[]
  readonly budget: Budget
  /** Pods that must be evicted for gangs of higher priority. */
  readonly evictions: readonly Eviction[]
  /** Room that is reserved for waiting gangs, until victims of preemption or running pods are gone. */
  readonly reservations: readonly Reservation[]
  /** When a waiting gang may reserve room, in milliseconds since 1970. */
  readonly nextReservation: number | undefined
}

/** Evictions leave the group below its minimum. */
function isCut({ placed, minReplicas }: Group, evicted: ReadonlySet<SnapshotPod>): boolean {
  const left = placed.filter(pod => !evicted.has(pod)).length
  return left < placed.length && left < minReplicas
}

export function isSatisfied(gang: Gang): boolean {
  return gang.groups.every(group => need(group) === 0)
}

/** `now` matters for reservations only. */
export function runCycle(given: Snapshot, policy: Policy, now = 0): Cycle {
  const snapshot = policy.replicaScope === 'Require' ? withReplicaScopes(given) : given
  const model = new Model(snapshot)
  const budget = new Budget(policy.budget.cycle)
  const accepted: Accepted[] = []
  const rejected = new RejectedDemands(model)
  const evictions: Eviction[] = []
  const evicted = new Set<SnapshotPod>()
  /** For each gang that loses pods of its minimum in this cycle, by position. It gets no other nodes until they are gone. */
  const preemptorOf = new Map<number, GangTask>()
  const reservations: Reservation[] = []
  const reservationTimes: number[] = []
  const mostNodes = Math.floor((snapshot.nodes.length * (policy.reservation?.maxNodesPercent ?? 0)) / 100)
  /** Gangs whose minimum is bound, or is bound by this decision. */
  const satisfiedBases = new Set<string>()
  const key = (namespace: string, name: string) => `${namespace}/${name}`
  const isBaseSatisfied = (gang: Gang) => satisfiedBases.has(key(gang.namespace, gang.baseGang ?? ''))
  for (const gang of snapshot.gangs) if (isSatisfied(gang)) satisfiedBases.add(key(gang.namespace, gang.name))
  const positions = new Map(snapshot.gangs.map(({ namespace, name }, index) => [key(namespace, name), index]))
  /** Positions of the scaled gangs of a base gang. They are found by label, never by name. */
  const scaledGangs = Map.groupBy(snapshot.gangs.keys(), index => {
    const { namespace, baseGang } = snapshot.gangs[index]!
    return baseGang === undefined ? undefined : key(namespace, baseGang)
  })

  const decided = snapshot.gangs.map((gang, index) => {
    const preemptor = preemptorOf.get(index)
    const obstacle = preemptor
      ? { code: 'HeldForEarlierGang' as const, preemptor }
      : obstacleOf(gang, isBaseSatisfied)
    if (isSatisfied(gang)) return { kind: 'satisfied' as const, task: taskOf(model, gang, index) }
    if (obstacle) return { kind: 'obstacle' as const, obstacle }
    const task = taskOf(model, gang, index)
    const outcome: Acceptance = rejected.has(task)
      ? { kind: 'rejected', steps: 0 }
      : accept(model, accepted, task, { gang: policy.budget.gang, cycle: budget }, refineFor(gang))
    if (outcome.kind === 'rejected') rejected.add(task)
    if (outcome.kind === 'accepted') {
      satisfiedBases.add(key(gang.namespace, gang.name))
      return { kind: 'accepted' as const, task }
    }
    if (outcome.kind === 'rejected' && !(policy.preemption === 'Enabled' && preempt(gang, index, task)))
      reserve(gang, index)
    return {
      kind: 'unschedulable' as const,
      task,
      proved: outcome.kind === 'rejected',
      steps: outcome.steps,
      before: accepted.map(other => other.task),
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
    if (preemptorOf.has(result.task.index)) return []
    const nodes = result.task.running.map(running => [...running])
    if (result.kind === 'accepted')
      for (const { group, node } of result.accepted.placement) nodes[group]!.push(node)
    return [{ task: result.task, nodes }]
  })
  return {
    model,
    results,
    surplus: placeSurplus(model, satisfied),
    budget,
    evictions,
    reservations,
    nextReservation: reservationTimes.length > 0 ? Math.min(...reservationTimes) : undefined,
  }

  /** Only after a proof that the minimum does not fit. The room stays reserved until the victims are gone. */
  function preempt(gang: Gang, index: number, task: GangTask): boolean {
    const limited = new Budget(policy.budget.gang, budget)
    const found = withinBudget(() =>
      preemptFor(snapshot, gang, index, accepted, placements(), evicted, limited),
    )?.result
    if (!found) return false
    evictions.push(...found.evictions)
    const uids = new Set(found.evictions.map(({ uid }) => uid))
    for (const pod of snapshot.boundPods) if (uids.has(pod.uid)) evicted.add(pod)
    for (const [at, owner] of snapshot.gangs.entries())
      if (owner.groups.some(group => isCut(group, evicted)) && !preemptorOf.has(at)) {
        preemptorOf.set(at, task)
        satisfiedBases.delete(key(owner.namespace, owner.name))
      }
    hold({ index, placement: found.placement, since: now })
    return true
  }

  /** Only after a proof that the minimum does not fit, and only after the configured delay. */
  function reserve(gang: Gang, index: number): void {
    const at = reservesAt(gang, policy)
    if (at === undefined) return
    if (at > now) {
      reservationTimes.push(at)
      return
    }
    const limited = new Budget(policy.budget.gang, budget)
    const placement = withinBudget(() =>
      reserveFor(snapshot, gang, index, accepted, placements(), evicted, mostNodes, limited),
    )?.result
    if (placement) hold({ index, placement, since: at })
  }

  function placements(): Placement[] {
    return reservations.map(({ placement }) => placement)
  }

  function hold(reservation: Reservation): void {
    reservations.push(reservation)
    apply(model, reservation.placement)
  }

  /** Keeps the gangs of one PodCliqueSet replica in one domain if this costs no score. */
  function refineFor(gang: Gang): Refine {
    const inReplica = refineInReplica(gang)
    return (task, placement, score, gangBudget) => {
      const refined = inReplica(task, placement, score, gangBudget)
      // Former nodes only break ties: the gang stays in the domain that it shares with its replica.
      const within =
        refined &&
        replicaMask(
          task,
          refined.map(({ node }) => node),
        )
      const known = refined ?? placement
      return placeOnFormerNodes(model, task, score, known, within, gangBudget) ?? refined
    }
  }

  function refineInReplica(gang: Gang): Refine {
    return (task, placement, score, gangBudget) => {
      if (gang.baseGang === undefined) {
        // None of them has nodes yet: they wait for this gang.
        const companions = companionsOf(model, scaledGangs.get(key(gang.namespace, gang.name)) ?? [])
        return placeWithCompanions(model, task, companions, score, placement, gangBudget)
      }
      const position = positions.get(key(gang.namespace, gang.baseGang))
      if (position === undefined) return undefined
      const base = taskOf(model, snapshot.gangs[position]!, position)
      const own = accepted.find(other => other.task.index === position)
      const nodes = [...base.running.flat(), ...(own?.placement ?? []).map(({ node }) => node)]
      const mask = replicaMask(base, nodes)
      return mask && placeInMask(model, task, mask, score, placement, gangBudget)
    }
  }
}
