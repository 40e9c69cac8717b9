// SPDX-License-Identifier: Apache-2.0
import { Model } from '../model/model.ts'
import { podsByNode, without } from '../model/usage.ts'
import type { Budget } from '../solver/index.ts'
import type { Gang, Policy, Snapshot, SnapshotPod } from '../types.ts'
import type { Accepted } from './accept.ts'
import { taskOf } from './gang-demand.ts'
import { apply, type Placement, placeAnyChoice } from './place.ts'
import { removalUnits } from './removal.ts'
import { withReplicaDomain } from './replica-domain.ts'

/** Room that is reserved for a waiting gang. */
export interface Reservation {
  /** Position of the gang. */
  readonly index: number
  /** Nodes that the gang will use. Later gangs and surplus get only the room that the gang does not need. */
  readonly placement: Placement
  /** In milliseconds since 1970. */
  readonly since: number
}

/** When a waiting gang may reserve room, in milliseconds since 1970. Undefined if it never does. */
export function reservesAt(gang: Gang, { reservation }: Policy): number | undefined {
  if (!reservation || gang.waitingSince === undefined) return undefined
  return gang.waitingSince + reservation.afterSeconds * 1000
}

/**
 * Finds the nodes that a waiting gang can use after the fewest pods have terminated. The scheduler evicts none of them:
 * the gang waits until these pods end. Undefined if no set of terminating pods is sufficient, or if the reservation
 * would include too many nodes.
 */
export function reserveFor(
  snapshot: Snapshot,
  gang: Gang,
  index: number,
  accepted: readonly Accepted[],
  reserved: readonly Placement[],
  evicted: ReadonlySet<SnapshotPod>,
  mostNodes: number,
  budget: Budget,
): Placement | undefined {
  const base = without(snapshot.boundPods, pod => pod.terminating || evicted.has(pod))
  const modelWithout = (leaving: ReadonlySet<SnapshotPod>) => {
    const model = new Model({ ...snapshot, boundPods: without(base, pod => leaving.has(pod)) })
    for (const { placement } of accepted) apply(model, placement)
    for (const placement of reserved) apply(model, placement)
    return model
  }
  const trial = (model: Model) =>
    placeAnyChoice(model, withReplicaDomain(taskOf(model, gang, index), accepted), budget)
  const now = modelWithout(new Set())
  const found = trial(now) ?? afterLeaving()
  const nodes = new Set([...(found ?? []), ...reserved.flat()].map(({ node }) => node))
  return found && nodes.size <= mostNodes ? found : undefined

  function afterLeaving(): Placement | undefined {
    const isOwn = (pod: SnapshotPod) => pod.namespace === gang.namespace && pod.gang === gang.name
    const { byNode } = podsByNode(snapshot.nodes, base)
    const othersOn = (node: number) => byNode[node]?.filter(pod => !isOwn(pod)) ?? []
    for (const units of removalUnits({ model: now, task: taskOf(now, gang, index) }, othersOn)) {
      const placement = trial(modelWithout(new Set(units.flatMap(({ pods }) => pods))))
      if (placement) return placement
    }
    return undefined
  }
}
