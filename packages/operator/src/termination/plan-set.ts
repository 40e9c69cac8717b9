// SPDX-License-Identifier: Apache-2.0

// Plans the termination of whole replicas of a set, because their remaining pods are of no use.
import type { PodClique, PodCliqueScalingGroup } from '@grove/api'
import { scalingGroups, standaloneCliques } from '../layout/layout.ts'
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

/** Takes the breaches of all replicas by their index. */
export function planTerminations(
  set: StoredSet,
  breaches: readonly (Breach | undefined)[],
  now: number,
): SetTermination {
  const terminate: BreachedReplica[] = []
  const waiting: BreachedReplica[] = []
  breaches.forEach((breach, replica) => {
    const breached = breach && breachedReplica(set, replica, breach)
    if (breached) (breached.deadline <= now ? terminate : waiting).push(breached)
  })
  return { terminate, waiting }
}

export interface ReplicaBreachInput {
  readonly set: StoredSet
  /** Only children that are not terminating: the others are being recreated already. */
  cliqueNamed(name: string): PodClique | undefined
  groupNamed(name: string): PodCliqueScalingGroup | undefined
}

/** The breach of a replica, being updated or not. */
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

/** When a replica in breach is terminated; undefined if the breach does not count. */
export function breachedReplica(
  set: StoredSet,
  replica: number,
  breach: Breach,
): BreachedReplica | undefined {
  // A replica that is being updated is being rebuilt already, unless the update is paused.
  if (!isPaused(set) && updatingReplicas(set).includes(replica)) return undefined
  return { replica, breach, deadline: breach.since + terminationDelayMs(set) }
}
