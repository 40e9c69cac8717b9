// SPDX-License-Identifier: Apache-2.0
import type { Cycle } from '../planner/cycle.ts'
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
export const rows: readonly Row[] = [
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

export function causeOf(cycle: Cycle, index: number, before: readonly GangTask[], limit: number): Cause {
  const { snapshot } = cycle.model
  const task = taskOf(cycle.model, snapshot.gangs[index]!, index)
  const kept = before.map(other => other.index)
  const known = knownPlacements(cycle)
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
        { snapshot: change, relaxed: new Set(relaxed), before: earlier, known, held: reserved },
        index,
        limit,
      ),
  }
  for (const row of rows) {
    const cause = row(one)
    if (cause) return cause
  }
  return insufficientCapacity(one)
}
