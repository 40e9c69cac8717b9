// SPDX-License-Identifier: Apache-2.0
import type { Cycle } from '../planner/cycle.ts'
import { demandKey } from '../planner/demand-key.ts'
import { type GangTask, taskOf } from '../planner/gang-demand.ts'
import { heldForEarlierGang, insufficientCapacity, podLimitReached, reserved } from './capacity.ts'
import type { Case, Cause, Row } from './case.ts'
import { devicesUnavailable } from './devices.ts'
import {
  cordoned,
  notReady,
  podAffinityUnsatisfied,
  portsInUse,
  taintsNotTolerated,
  terminating,
  volumeUnavailable,
} from './filtered.ts'
import { noDomainFits, nodesFragmented, pinnedDomainFull, replicaDomainFull } from './fragmented.ts'
import { clusterTooSmall, domainTooSmall, tooLarge } from './impossible.ts'
import { heldBefore, knownPlacements, wouldFit } from './trial.ts'

/**
 * The rows of the table in order, for gangs whose minimum is proved not to fit. The first row that applies is the
 * cause.
 */
const rows: readonly Row[] = [
  tooLarge,
  clusterTooSmall,
  domainTooSmall,
  pinnedDomainFull,
  replicaDomainFull,
  terminating,
  notReady,
  cordoned,
  taintsNotTolerated,
  heldForEarlierGang,
  reserved,
  portsInUse,
  podAffinityUnsatisfied,
  volumeUnavailable,
  devicesUnavailable,
  podLimitReached,
  noDomainFits,
  nodesFragmented,
]

/**
 * The position of the first row that applies, by demand. Gangs that need the same, after the same gangs and reservations, wait
 * for the same reason, and most rows need a trial to see that they do not apply.
 */
const firstRows = new WeakMap<Cycle, Map<string, number>>()

export function causeOf(cycle: Cycle, index: number, before: readonly GangTask[], limit: number): Cause {
  const { snapshot } = cycle.model
  const task = taskOf(cycle.model, snapshot.gangs[index]!, index)
  const kept = before.map(other => other.index)
  const placements = knownPlacements(cycle)
  const held = heldBefore(cycle, index)
  const allHeld = held.map(({ pods }) => pods)
  const one: Case = {
    cycle,
    snapshot,
    index,
    task,
    before,
    pods: task.minimum.flat(),
    held,
    fits: (change, relaxed = [], earlier = kept, reserved = allHeld) =>
      wouldFit(
        { snapshot: change, relaxed: new Set(relaxed), before: earlier, known: placements, held: reserved },
        index,
        limit,
      ),
  }
  const demand = demandKey(cycle.model, task)
  const key = demand && `${before.length} ${held.length} ${demand}`
  const known = firstRows.get(cycle) ?? new Map<string, number>()
  firstRows.set(cycle, known)
  for (let at = (key && known.get(key)) || 0; at < rows.length; at++) {
    const cause = rows[at]!(one)
    if (!cause) continue
    if (key) known.set(key, at)
    return cause
  }
  if (key) known.set(key, rows.length)
  return insufficientCapacity(one)
}
