// SPDX-License-Identifier: Apache-2.0

// Deletes replicas of a scaling group: their status, their gangs, their cliques and their pods, in this order.
// Parents are deleted before pods, so that no parent is left when the last pod is gone.
import { eventSource, events, label, managedLabels, selectorText } from '@grove/api'
import { execute, executeInOrder } from '../apply/execute.ts'
import type { Intent } from '../apply/intent.ts'
import { uidsOf } from '../apply/planned-removal.ts'
import { groupReplicaKey, withinReplicas } from '../caches/replica-index.ts'
import { groupErrors } from '../errors/catalogue.ts'
import { memberReplicaOf } from '../layout/clique-instance.ts'
import type { StoredClique } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { gangDeletions } from '../podgang/removal.ts'
import type { GroupSnapshot } from './observe.ts'
import { plannedLoss } from './plan.ts'

/** Returns the failures. A gang whose deletion fails does not stop the deletion of the cliques. */
export async function removeReplicas(
  snapshot: GroupSnapshot,
  replicas: readonly number[],
  context: OperatorContext,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  if (replicas.length === 0) return []
  const failed = await executeInOrder([plannedLoss(snapshot, replicas)], context, { signal })
  if (failed.length) return failed
  return context.memory.groupRemovals.during(snapshot.group, replicas, () =>
    removeObjects(snapshot, replicas, context, signal),
  )
}

async function removeObjects(
  snapshot: GroupSnapshot,
  replicas: readonly number[],
  context: OperatorContext,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const gangs = snapshot.gangsOf(scaledAway(snapshot, replicas))
  const { failures } = await execute(gangDeletions(snapshot.set, gangs, context.caches), context, { signal })
  return [...failures, ...(await executeInOrder(deletions(snapshot, replicas, context), context, { signal }))]
}

/** Cliques whose gang is no longer needed. The base gang and the gangs of replicas that will be recreated stay. */
function scaledAway({ group, cliques }: GroupSnapshot, replicas: readonly number[]): StoredClique[] {
  return cliques.filter(clique => {
    const replica = memberReplicaOf(group, clique) ?? -1
    const isScaled = clique.metadata.labels?.[label.basePodGang] !== undefined
    return isScaled && replicas.includes(replica) && replica >= group.spec.replicas
  })
}

/** Deletes cliques, then pods, by label: two requests for any number of them. */
function deletions(
  { set, group, cliques }: GroupSnapshot,
  replicas: readonly number[],
  { caches }: OperatorContext,
): Intent[][] {
  const labels = { ...managedLabels(set.metadata.name), [label.scalingGroup]: group.metadata.name }
  const planned = uidsOf(cliques.filter(clique => replicas.includes(memberReplicaOf(group, clique) ?? -1)))
  const { name } = group.metadata
  const keys = replicas.map(replica => groupReplicaKey(set.metadata.namespace, name, replica))
  const report = {
    about: set,
    source: eventSource.podCliqueScalingGroup,
    failed: (error: string) =>
      replicas.map(replica => events.scalingGroupReplicaDeleteFailed(name, replica, error)),
  }
  const removal = {
    kind: 'deleteCollection' as const,
    namespace: set.metadata.namespace,
    labelSelector: `${selectorText(labels)},${label.scalingGroupReplicaIndex} in (${replicas.join(',')})`,
    planned,
    error: groupErrors.deleteReplicas(replicas),
  }
  const done = () => replicas.map(replica => events.scalingGroupReplicaDeleted(name, replica))
  return [
    [{ ...removal, known: withinReplicas(caches.cliques, keys), report }],
    [{ ...removal, known: withinReplicas(caches.pods, keys), podsOf: set, report: { ...report, done } }],
  ]
}
