// SPDX-License-Identifier: Apache-2.0

import { eventSource, events } from '@grove/api'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import type { BreachedReplica } from './plan-set.ts'

/** Announces terminations before they happen: one event per replica and breach. */
export function reportScheduledTerminations(
  set: StoredSet,
  waiting: readonly BreachedReplica[],
  { memory: { terminationNotices }, events: sink }: Pick<OperatorContext, 'memory' | 'events'>,
): void {
  const before = terminationNotices.get(set)
  for (const { replica, breach, deadline } of waiting) {
    if (before?.get(replica) === deadline) continue
    const what = `Replica ${replica} of PodCliqueSet ${set.metadata.name}`
    const event = events.gangTerminationScheduled(what, breach.because, new Date(deadline).toISOString())
    sink.emit(set, eventSource.podCliqueSet, event)
  }
  if (waiting.length)
    terminationNotices.set(set, new Map(waiting.map(({ replica, deadline }) => [replica, deadline])))
  else terminationNotices.delete(set)
}
