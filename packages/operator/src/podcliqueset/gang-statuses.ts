// SPDX-License-Identifier: Apache-2.0

import {
  type Condition,
  conditionType,
  type PodGang,
  type PodGangStatusSummary,
  podGangSummaryPhases,
} from '@grove/api'
import { findCondition } from '../state/conditions.ts'
import { longestCause } from '../state/pod-state.ts'

/** A set may have thousands of gangs, and each status write contains the whole list. */
export const mostGangStatuses = 100

/**
 * The entries of `status.podGangStatuses`, in the order of the gangs. If there are more gangs than the list holds,
 * those that are not Running come first. Pending gangs have their condition Scheduled, which names the cause.
 */
export function gangStatuses(gangs: Iterable<PodGangStatusSummary>): PodGangStatusSummary[] {
  const running: PodGangStatusSummary[] = []
  const others: PodGangStatusSummary[] = []
  const all: PodGangStatusSummary[] = []
  for (const summary of gangs) {
    for (const list of [all, summary.phase === 'Running' ? running : others])
      if (list.length <= mostGangStatuses) list.push(summary)
    if (others.length > mostGangStatuses) break
  }
  const listed = all.length > mostGangStatuses ? [...others, ...running] : all
  return listed.slice(0, mostGangStatuses)
}

export function gangSummary({ metadata, status }: PodGang): PodGangStatusSummary {
  const scheduled = findCondition(status?.conditions, conditionType.podGangScheduled)
  return {
    name: metadata.name,
    // A scheduler may write any phase. The status of a set with another than these would be rejected as a whole.
    phase: podGangSummaryPhases.find(phase => phase === status?.phase) ?? 'Pending',
    ...(scheduled?.status === 'False' && { conditions: [causeOf(scheduled)] }),
  }
}

/** Omits the generation, because that of a gang changes with every pod, and shortens the message of a scheduler. */
function causeOf({ observedGeneration: _, message, ...condition }: Condition): Condition {
  return { ...condition, message: message.slice(0, longestCause) }
}
