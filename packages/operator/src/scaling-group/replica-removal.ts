// SPDX-License-Identifier: Apache-2.0

import {
  eventSource,
  events,
  label,
  managedLabels,
  type PodClique,
  scalingGroupErrorCode,
  selectorText,
} from '@grove/api'
import { numberLabel } from '../clique-instance.ts'
import { CodedError, textOf } from '../coded-error.ts'
import type { OperatorContext } from '../operator-context.ts'
import { removePlanned, removePodsOf, uidsOf } from '../planned-removal.ts'
import { gangsOf, removeGangs } from '../podcliqueset/gangs.ts'
import type { StoredScalingGroup, StoredSet } from '../stored.ts'

/**
 * Deletes cliques and pods of the replicas by label: two requests, however many they are. Parents are deleted before
 * pods, so that no parent is left when the last pod is gone.
 */
export async function removeReplicas(
  set: StoredSet,
  group: StoredScalingGroup,
  replicas: readonly number[],
  context: OperatorContext,
  signal: AbortSignal,
): Promise<unknown[]> {
  if (replicas.length === 0) return []
  const { world, events: sink } = context
  const { namespace } = set.metadata
  const labels = { ...managedLabels(set.metadata.name), [label.scalingGroup]: group.metadata.name }
  const labelSelector = `${selectorText(labels)},${label.scalingGroupReplicaIndex} in (${replicas.join(',')})`
  const going = world.cliques
    .byIndex('controller', group.metadata.uid)
    .filter(({ metadata }) =>
      replicas.includes(numberLabel(metadata.labels, label.scalingGroupReplicaIndex) ?? -1),
    )
  // Gangs of replicas that will be recreated stay, and so does the base gang.
  const isScaledAway = ({ metadata: { labels: own } }: PodClique) =>
    own?.[label.basePodGang] !== undefined &&
    (numberLabel(own, label.scalingGroupReplicaIndex) ?? -1) >= group.spec.replicas
  const planned = uidsOf(going)
  const removal = { namespace, labelSelector, planned }
  const gangs = gangsOf(set, going.filter(isScaledAway), world)
  const failures = await removeGangs(set, gangs, context, signal)
  try {
    await removePlanned(world.cliques, removal, world.client, signal)
    await removePodsOf(set, planned, removal, context, signal)
    for (const replica of replicas)
      sink.emit(
        set,
        eventSource.podCliqueScalingGroup,
        events.scalingGroupReplicaDeleted(group.metadata.name, replica),
      )
    return failures
  } catch (error) {
    for (const replica of replicas)
      sink.emit(
        set,
        eventSource.podCliqueScalingGroup,
        events.scalingGroupReplicaDeleteFailed(group.metadata.name, replica, textOf(error)),
      )
    return [
      ...failures,
      new CodedError(
        'Sync',
        scalingGroupErrorCode.deleteCliques,
        `Error deleting replicas ${replicas.join(', ')}`,
        error,
      ),
    ]
  }
}
