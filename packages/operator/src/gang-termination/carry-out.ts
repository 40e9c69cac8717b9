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
import { isNotFound } from '@grove/kube'
import { CodedError, textOf } from '../coded-error.ts'
import { withCondition } from '../condition-list.ts'
import { scalingGroups } from '../layout.ts'
import { type OperatorContext, timestamp } from '../operator-context.ts'
import { ownChildren } from '../own-children.ts'
import { removePlanned, removePodsOf, uidsOf } from '../planned-removal.ts'
import { rememberCounts } from '../podcliqueset/remembered-counts.ts'
import { resources } from '../resources.ts'
import { writeStatus } from '../status-write.ts'
import type { StoredSet } from '../stored.ts'
import { patchObject } from '../writes.ts'

export async function terminateReplica(
  set: StoredSet,
  replica: number,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { world, events: sink } = context
  const { namespace, name } = set.metadata
  const labels = { ...managedLabels(name), [label.setReplicaIndex]: String(replica) }
  const planned = uidsOf(
    ownChildren(set, world).cliques.filter(
      ({ metadata }) => metadata.labels?.[label.setReplicaIndex] === String(replica),
    ),
  )
  const removal = { namespace, labelSelector: selectorText(labels), planned }
  try {
    await rememberCounts(set, replica, context, signal)
    await context.removals.during(set, [replica], async () => {
      await writeOffGroups(set, replica, context, signal)
      await removePlanned(world.cliques, removal, world.client, signal)
      await removePodsOf(set, planned, removal, context, signal)
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

/**
 * Sets the scheduled count of the scaling groups to zero before their members are deleted: what the operator terminates
 * itself is no loss to report. Unconditional, because the group's own controller writes its status at the same time.
 */
async function writeOffGroups(
  set: StoredSet,
  replica: number,
  { world }: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { namespace } = set.metadata
  for (const { name } of scalingGroups(set, replica)) {
    const group = world.groups.get({ namespace, name })
    if (!group?.status?.scheduledReplicas || group.metadata.deletionTimestamp) continue
    const merge = { status: { scheduledReplicas: 0 } }
    const options = { signal, subresource: 'status' as const }
    try {
      await patchObject(world, resources.podCliqueScalingGroups, group, { merge }, options)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}
