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
import { type OperatorContext, timestamp } from '../operator-context.ts'
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
  const options = { namespace, labelSelector: selectorText(labels), signal }
  try {
    await rememberCounts(set, replica, context, signal)
    await world.client.deleteCollection(resources.podCliques, options)
    await world.client.deleteCollection(resources.pods, options)
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
