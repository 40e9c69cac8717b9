// SPDX-License-Identifier: Apache-2.0

// Replicas of a set that are taken down as a whole, because what is left of them is of no use.
import type { PodClique, PodCliqueScalingGroup } from '@grove/api'
import { range, scalingGroups, standaloneCliques } from '../layout.ts'
import { updatingReplicas } from '../podcliqueset/update.ts'
import type { StoredSet } from '../stored.ts'
import { type Breach, cliqueBreach, earliest, groupBreach, terminationDelayMs } from './breach.ts'

export interface BreachedReplica {
  readonly replica: number
  readonly breach: Breach
  /** Milliseconds since the epoch. */
  readonly deadline: number
}

export interface SetTermination {
  readonly terminate: readonly BreachedReplica[]
  readonly waiting: readonly BreachedReplica[]
}

export interface SetTerminationInput {
  readonly set: StoredSet
  /** Live children only: what is being deleted is on its way to being built anew. */
  cliqueNamed(name: string): PodClique | undefined
  groupNamed(name: string): PodCliqueScalingGroup | undefined
  readonly now: number
}

export function planSetTermination({
  set,
  cliqueNamed,
  groupNamed,
  now,
}: SetTerminationInput): SetTermination {
  const delayMs = terminationDelayMs(set)
  const updating = updatingReplicas(set)
  const breached = range(0, set.spec.replicas ?? 0).flatMap(replica => {
    // A replica that is being updated is being rebuilt already.
    if (updating.includes(replica)) return []
    const cliques = standaloneCliques(set, replica).map(({ name }) => cliqueNamed(name))
    if (cliques.includes(undefined)) return []
    const breach = earliest([
      ...cliques.map(clique => cliqueBreach(clique!)),
      ...scalingGroups(set, replica).map(({ name }) => {
        const group = groupNamed(name)
        return group && groupBreach(group)
      }),
    ])
    return breach ? [{ replica, breach, deadline: breach.since + delayMs }] : []
  })
  return {
    terminate: breached.filter(({ deadline }) => deadline <= now),
    waiting: breached.filter(({ deadline }) => deadline > now),
  }
}
