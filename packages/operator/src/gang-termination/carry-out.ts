// SPDX-License-Identifier: Apache-2.0

// Takes a replica down: all of its cliques and pods by label, in two requests; then marks its scaling groups,
// so that the same breach does not take it down again. In this order: a process that dies in between repeats
// the first step once and then goes on.
import {
  eventSource,
  events,
  gangTerminationInProgress,
  label,
  managedLabels,
  selectorText,
  setErrorCode,
} from '@grove/api'
import { CodedError, textOf } from '../coded-error.ts'
import { withCondition } from '../condition-list.ts'
import { scalingGroups } from '../layout.ts'
import { keyOf } from '../object-key.ts'
import { type OperatorContext, timestamp } from '../operator-context.ts'
import { removePlanned, uidsOf } from '../planned-removal.ts'
import { rememberCounts } from '../podcliqueset/remembered-counts.ts'
import { resources } from '../resources.ts'
import { writeStatus } from '../status-write.ts'
import type { StoredSet } from '../stored.ts'

export async function terminateReplica(
  set: StoredSet,
  replica: number,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { world, events: sink } = context
  const { namespace, name } = set.metadata
  const labels = { ...managedLabels(name), [label.setReplicaIndex]: String(replica) }
  const going = world.cliques
    .byIndex('set', keyOf(set))
    .filter(({ metadata }) => metadata.labels?.[label.setReplicaIndex] === String(replica))
  const removal = { namespace, labelSelector: selectorText(labels), planned: uidsOf(going) }
  try {
    await rememberCounts(set, replica, context, signal)
    await context.removals.during(set, [replica], async () => {
      await removePlanned(resources.podCliques, removal, world, signal)
      await removePlanned(resources.pods, removal, world, signal)
    })
  } catch (error) {
    sink.emit(set, eventSource.podCliqueSet, events.setReplicaDeleteFailed(replica, textOf(error)))
    throw new CodedError('Sync', setErrorCode.deleteReplica, `Error terminating replica ${replica}`, error)
  }
  sink.emit(set, eventSource.podCliqueSet, events.setReplicaDeleted(replica))
  for (const { name: groupName } of scalingGroups(set, replica)) {
    const group = world.groups.get({ namespace, name: groupName })
    if (!group || group.metadata.deletionTimestamp) continue
    const conditions = withCondition(
      group.status?.conditions,
      gangTerminationInProgress(replica),
      timestamp(context.clock),
    )
    await writeStatus(
      world,
      resources.podCliqueScalingGroups,
      group,
      { ...group.status, conditions },
      { signal },
    )
  }
}
