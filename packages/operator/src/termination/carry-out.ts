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
import { removePlanned, removePodsOf, uidsOf } from '../apply/planned-removal.ts'
import { writeStatus } from '../apply/status-write.ts'
import { patchObject } from '../apply/writes.ts'
import { setReplicaKey, withinReplicas } from '../caches/replica-index.ts'
import { resources } from '../caches/resources.ts'
import { CodedError, textOf } from '../errors/coded-error.ts'
import { scalingGroups } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { ownChildren } from '../ownership/owner-lookup.ts'
import { timestamp, withCondition } from '../state/conditions.ts'
import { rememberCounts } from './remembered-counts.ts'

export async function terminateReplica(
  set: StoredSet,
  replica: number,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { caches, events: sink } = context
  const { namespace, name } = set.metadata
  const labels = { ...managedLabels(name), [label.setReplicaIndex]: String(replica) }
  const planned = uidsOf(
    ownChildren(set, caches).cliques.filter(
      ({ metadata }) => metadata.labels?.[label.setReplicaIndex] === String(replica),
    ),
  )
  const replicas = [setReplicaKey(namespace, name, replica)]
  const removal = { namespace, labelSelector: selectorText(labels), planned, replicas }
  try {
    await rememberCounts(set, replica, context, signal)
    await context.removals.during(set, [replica], async () => {
      await writeOffGroups(set, replica, context, signal)
      await removePlanned(withinReplicas(caches.cliques, replicas), removal, caches.client, signal)
      await removePodsOf(set, planned, removal, context, signal)
    })
  } catch (error) {
    sink.emit(set, eventSource.podCliqueSet, events.setReplicaDeleteFailed(replica, textOf(error)))
    throw new CodedError('Sync', setErrorCode.deleteReplica, `Error terminating replica ${replica}`, error)
  }
  sink.emit(set, eventSource.podCliqueSet, events.setReplicaDeleted(replica))
  for (const { name: groupName } of scalingGroups(set, replica)) {
    const group = caches.groups.get({ namespace, name: groupName })
    if (!group || group.metadata.deletionTimestamp) continue
    const conditions = withCondition(
      group.status?.conditions,
      gangTerminationInProgress(replica),
      timestamp(context.clock),
    )
    await writeStatus(
      caches,
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
  { caches }: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { namespace } = set.metadata
  for (const { name } of scalingGroups(set, replica)) {
    const group = caches.groups.get({ namespace, name })
    if (!group?.status?.scheduledReplicas || group.metadata.deletionTimestamp) continue
    const merge = { status: { scheduledReplicas: 0 } }
    const options = { signal, subresource: 'status' as const }
    try {
      await patchObject(caches, resources.podCliqueScalingGroups, group, { merge }, options)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}
