// SPDX-License-Identifier: Apache-2.0

import { eventSource, events, label, managedLabels, scalingGroupErrorCode, selectorText } from '@grove/api'
import { numberLabel } from '../clique-instance.ts'
import { CodedError, textOf } from '../coded-error.ts'
import type { OperatorContext } from '../operator-context.ts'
import { removePlanned, uidsOf } from '../planned-removal.ts'
import { resources } from '../resources.ts'
import type { StoredScalingGroup, StoredSet } from '../stored.ts'

/** Pods and cliques of the replicas by label: two requests, however many they are. */
export async function removeReplicas(
  set: StoredSet,
  group: StoredScalingGroup,
  replicas: readonly number[],
  { world, events: sink }: OperatorContext,
  signal: AbortSignal,
): Promise<unknown[]> {
  if (replicas.length === 0) return []
  const { namespace } = set.metadata
  const labels = { ...managedLabels(set.metadata.name), [label.scalingGroup]: group.metadata.name }
  const labelSelector = `${selectorText(labels)},${label.scalingGroupReplicaIndex} in (${replicas.join(',')})`
  const going = world.cliques
    .byIndex('controller', group.metadata.uid)
    .filter(({ metadata }) =>
      replicas.includes(numberLabel(metadata.labels, label.scalingGroupReplicaIndex) ?? -1),
    )
  const removal = { namespace, labelSelector, planned: uidsOf(going) }
  try {
    await removePlanned(resources.podCliques, removal, world, signal)
    await removePlanned(resources.pods, removal, world, signal)
    for (const replica of replicas)
      sink.emit(
        set,
        eventSource.podCliqueScalingGroup,
        events.scalingGroupReplicaDeleted(group.metadata.name, replica),
      )
    return []
  } catch (error) {
    for (const replica of replicas)
      sink.emit(
        set,
        eventSource.podCliqueScalingGroup,
        events.scalingGroupReplicaDeleteFailed(group.metadata.name, replica, textOf(error)),
      )
    return [
      new CodedError(
        'Sync',
        scalingGroupErrorCode.deleteCliques,
        `Error deleting replicas ${replicas.join(', ')}`,
        error,
      ),
    ]
  }
}
