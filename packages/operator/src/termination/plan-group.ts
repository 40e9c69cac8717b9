// SPDX-License-Identifier: Apache-2.0

// Plans the termination of single replicas of a scaling group that keeps enough others.
import type { PodClique, PodCliqueScalingGroup } from '@grove/api'
import { replicaIndexOf } from '../layout/clique-instance.ts'
import { type Breach, cliqueBreach, earliest } from './breach.ts'

export interface GroupTermination {
  /** The replicas whose delay has ended, ascending. */
  readonly terminate: readonly number[]
  /** When the next delay ends, in milliseconds since the epoch. */
  readonly deadline: number | undefined
}

const nothing: GroupTermination = { terminate: [], deadline: undefined }

export function planGroupTermination(
  group: PodCliqueScalingGroup,
  cliques: readonly PodClique[],
  delayMs: number,
  now: number,
): GroupTermination {
  // The delay starts again after an update: while it runs, broken replicas cannot be distinguished from replaced
  // ones.
  const updated = Date.parse(group.status?.updateProgress?.updateEndedAt ?? '') || 0
  const breaches = breachesByReplica(cliques)
  const breached = [...breaches]
    .filter(([index]) => index < group.spec.replicas)
    .sort(([one], [other]) => one - other)
    .map(([index, found]) => ({
      index,
      deadline: Math.max(earliest(found)!.since, updated) + delayMs,
    }))
  // Too many replicas are broken: the group as a whole is in breach, and the set decides.
  if (group.spec.replicas - breached.length < (group.spec.minAvailable ?? 1)) return nothing
  const waiting = breached.filter(({ deadline }) => deadline > now)
  return {
    terminate: breached.filter(({ deadline }) => deadline <= now).map(({ index }) => index),
    deadline: waiting.length ? Math.min(...waiting.map(({ deadline }) => deadline)) : undefined,
  }
}

/** Considers only cliques that are not terminating, and reads each once, however many replicas there are. */
function breachesByReplica(cliques: readonly PodClique[]): ReadonlyMap<number, Breach[]> {
  const breaches = new Map<number, Breach[]>()
  for (const clique of cliques) {
    const breach = clique.metadata.deletionTimestamp ? undefined : cliqueBreach(clique)
    const index = replicaIndexOf(clique)
    if (!breach || index === undefined) continue
    const known = breaches.get(index)
    if (known) known.push(breach)
    else breaches.set(index, [breach])
  }
  return breaches
}
