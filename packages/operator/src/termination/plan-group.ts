// SPDX-License-Identifier: Apache-2.0

// Plans the termination of single replicas of a scaling group that keeps enough others.
import type { PodClique, PodCliqueScalingGroup } from '@grove/api'
import { membersByReplica } from '../layout/clique-instance.ts'
import { minAvailableOfGroup } from '../layout/layout.ts'
import { cliqueBreach, earliest } from './breach.ts'

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
  const breached = [...membersByReplica(cliques)]
    .filter(([index]) => index < group.spec.replicas)
    .sort(([one], [other]) => one - other)
    .flatMap(([index, members]) => {
      const breach = earliest(members.map(cliqueBreach))
      return breach ? [{ index, deadline: Math.max(breach.since, updated) + delayMs }] : []
    })
  // Too many replicas are broken: the group as a whole is in breach, and the set decides.
  if (group.spec.replicas - breached.length < minAvailableOfGroup(group.spec)) return nothing
  const waiting = breached.filter(({ deadline }) => deadline > now)
  return {
    terminate: breached.filter(({ deadline }) => deadline <= now).map(({ index }) => index),
    deadline: waiting.length ? Math.min(...waiting.map(({ deadline }) => deadline)) : undefined,
  }
}
