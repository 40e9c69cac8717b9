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
import { removePlanned, removePodsOf, uidsOf } from '../apply/planned-removal.ts'
import { groupReplicaKey, withinReplicas } from '../caches/replica-index.ts'
import { CodedError, textOf } from '../errors/coded-error.ts'
import { numberLabel } from '../layout/clique-instance.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { gangsOf, removeGangs } from '../podgang/removal.ts'

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
  const { caches, events: sink } = context
  const { namespace } = set.metadata
  const labels = { ...managedLabels(set.metadata.name), [label.scalingGroup]: group.metadata.name }
  const labelSelector = `${selectorText(labels)},${label.scalingGroupReplicaIndex} in (${replicas.join(',')})`
  const keys = replicas.map(replica => groupReplicaKey(namespace, group.metadata.name, replica))
  const cliques = withinReplicas(caches.cliques, keys)
  const going = cliques.list(namespace).filter(clique => isControlledBy(clique, group.metadata.uid))
  // Gangs of replicas that will be recreated stay, and so does the base gang.
  const isScaledAway = ({ metadata: { labels: own } }: PodClique) =>
    own?.[label.basePodGang] !== undefined &&
    (numberLabel(own, label.scalingGroupReplicaIndex) ?? -1) >= group.spec.replicas
  const planned = uidsOf(going)
  const removal = { namespace, labelSelector, planned, replicas: keys }
  const gangs = gangsOf(set, going.filter(isScaledAway), caches)
  const failures = await removeGangs(set, gangs, context, signal)
  try {
    await removePlanned(cliques, removal, caches.client, signal)
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
