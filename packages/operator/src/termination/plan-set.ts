// SPDX-License-Identifier: Apache-2.0

// Replicas of a set that are taken down as a whole, because what is left of them is of no use.
import type { PodClique, PodCliqueScalingGroup } from '@grove/api'
import { replicaIndexes, scalingGroups, standaloneCliques } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import { isPaused, updatingReplicas } from '../update/set-progress.ts'
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

export function planSetTermination(input: SetTerminationInput): SetTermination {
  return planTerminations(input.set, replica => replicaBreach(input, replica), input.now)
}

/** The same with breaches that are known already. */
export function planTerminations(
  set: StoredSet,
  breachIn: (replica: number) => Breach | undefined,
  now: number,
): SetTermination {
  const breached = replicaIndexes(set).flatMap(replica => due(set, replica, breachIn(replica)) ?? [])
  return {
    terminate: breached.filter(({ deadline }) => deadline <= now),
    waiting: breached.filter(({ deadline }) => deadline > now),
  }
}

export function breachOf(input: ReplicaBreachInput, replica: number): BreachedReplica | undefined {
  return due(input.set, replica, replicaBreach(input, replica))
}

type ReplicaBreachInput = Omit<SetTerminationInput, 'now'>

/** The breach of a replica, whether it is being updated or not. */
export function replicaBreach(
  { set, cliqueNamed, groupNamed }: ReplicaBreachInput,
  replica: number,
): Breach | undefined {
  const cliques = standaloneCliques(set, replica).map(({ name }) => cliqueNamed(name))
  if (cliques.includes(undefined)) return undefined
  return earliest([
    ...cliques.map(clique => cliqueBreach(clique!)),
    ...scalingGroups(set, replica).map(({ name }) => {
      const group = groupNamed(name)
      return group && groupBreach(group)
    }),
  ])
}

function due(set: StoredSet, replica: number, breach: Breach | undefined): BreachedReplica | undefined {
  // A replica that is being updated is being rebuilt already, unless the update is paused.
  if (!breach || (!isPaused(set) && updatingReplicas(set).includes(replica))) return undefined
  return { replica, breach, deadline: breach.since + terminationDelayMs(set) }
}
