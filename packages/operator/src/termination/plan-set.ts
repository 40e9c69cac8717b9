// SPDX-License-Identifier: Apache-2.0

// Replicas of a set that are terminated as a whole, because their remaining pods are of no use.
import type { PodClique, PodCliqueScalingGroup } from '@grove/api'
import { replicaIndexes, scalingGroups, standaloneCliques } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import { isPaused, updatingReplicas } from '../update/set-update.ts'
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
  /** Live children only: terminating ones are being recreated already. */
  cliqueNamed(name: string): PodClique | undefined
  groupNamed(name: string): PodCliqueScalingGroup | undefined
  readonly now: number
}

export function planSetTermination(input: SetTerminationInput): SetTermination {
  const breached = replicaIndexes(input.set).flatMap(replica => breachOf(input, replica) ?? [])
  return {
    terminate: breached.filter(({ deadline }) => deadline <= input.now),
    waiting: breached.filter(({ deadline }) => deadline > input.now),
  }
}

export function breachOf(
  { set, cliqueNamed, groupNamed }: Omit<SetTerminationInput, 'now'>,
  replica: number,
): BreachedReplica | undefined {
  // A replica that is being updated is being rebuilt already, unless the update is paused.
  if (!isPaused(set) && updatingReplicas(set).includes(replica)) return undefined
  const cliques = standaloneCliques(set, replica).map(({ name }) => cliqueNamed(name))
  if (cliques.includes(undefined)) return undefined
  const breach = earliest([
    ...cliques.map(clique => cliqueBreach(clique!)),
    ...scalingGroups(set, replica).map(({ name }) => {
      const group = groupNamed(name)
      return group && groupBreach(group)
    }),
  ])
  return breach && { replica, breach, deadline: breach.since + terminationDelayMs(set) }
}
