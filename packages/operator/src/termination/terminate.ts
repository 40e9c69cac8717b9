// SPDX-License-Identifier: Apache-2.0

// Terminates a replica of a set: deletes its cliques and pods by label, in two requests. Then it marks the scaling
// groups, so that the same breach does not terminate the replica again. The order matters: an operator that crashes in
// between repeats the deletion once and continues.
import {
  eventSource,
  events,
  gangTerminationInProgress,
  label,
  managedLabels,
  selectorText,
} from '@grove/api'
import { executeInOrder } from '../apply/execute.ts'
import type { Intent } from '../apply/intent.ts'
import { uidsOf } from '../apply/planned-removal.ts'
import { setReplicaKey, withinReplicas } from '../caches/replica-index.ts'
import { resources } from '../caches/resources.ts'
import { setErrors } from '../errors/catalogue.ts'
import { replicaOf } from '../layout/clique-instance.ts'
import { scalingGroups } from '../layout/layout.ts'
import type { StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { ownChildren } from '../ownership/owner-lookup.ts'
import { timestamp, withCondition } from '../state/conditions.ts'
import { countsToRemember } from './remembered-counts.ts'

/** Returns the failures. */
export async function terminateReplica(
  set: StoredSet,
  replica: number,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const { memory, caches, clock } = context
  const failures = await memory.removals.during(set, [replica], () =>
    executeInOrder(deletions(set, replica, context), context, { signal }),
  )
  if (failures.length) return failures
  const marks = groupsOf(set, replica, caches).map(
    (object): Intent => ({
      kind: 'writeStatus',
      resource: resources.podCliqueScalingGroups,
      object,
      status: {
        ...object.status,
        conditions: withCondition(
          object.status?.conditions,
          gangTerminationInProgress(replica),
          timestamp(clock),
        ),
      },
    }),
  )
  return executeInOrder([marks], context, { signal })
}

function deletions(set: StoredSet, replica: number, { caches }: OperatorContext): Intent[][] {
  const { namespace, name } = set.metadata
  const labels = { ...managedLabels(name), [label.setReplicaIndex]: String(replica) }
  const cliques = ownChildren(set, caches).cliques.filter(clique => replicaOf(set, clique) === replica)
  const failed = {
    about: set,
    source: eventSource.podCliqueSet,
    failed: (error: string) => events.setReplicaDeleteFailed(replica, error),
  }
  const outcomes = { error: setErrors.terminateReplica(replica), report: failed }
  const removal = {
    ...outcomes,
    kind: 'deleteCollection' as const,
    namespace,
    labelSelector: selectorText(labels),
    planned: uidsOf(cliques),
  }
  const done = { ...failed, done: () => events.setReplicaDeleted(replica) }
  const keys = [setReplicaKey(namespace, name, replica)]
  return [
    countsToRemember(set, replica, caches).map(patch => ({ ...patch, ...outcomes })),
    plannedLosses(set, replica, caches).map(patch => ({ ...patch, ...outcomes })),
    [{ ...removal, known: withinReplicas(caches.cliques, keys) }],
    [{ ...removal, known: withinReplicas(caches.pods, keys), podsOf: set, report: done }],
  ]
}

/**
 * Sets the scheduled count of the scaling groups to zero before their members are deleted, so that replicas that the
 * operator terminates are not reported as lost. Unconditional, because the group's own controller writes its status at
 * the same time.
 */
function plannedLosses(set: StoredSet, replica: number, caches: OperatorContext['caches']): Intent[] {
  return groupsOf(set, replica, caches)
    .filter(({ status }) => status?.scheduledReplicas)
    .map(object => ({
      kind: 'patch',
      resource: resources.podCliqueScalingGroups,
      object,
      merge: { status: { scheduledReplicas: 0 } },
      subresource: 'status',
    }))
}

function groupsOf(
  set: StoredSet,
  replica: number,
  { groups }: OperatorContext['caches'],
): StoredScalingGroup[] {
  const { namespace } = set.metadata
  return scalingGroups(set, replica)
    .map(({ name }) => groups.get({ namespace, name }))
    .filter(group => group !== undefined)
    .filter(({ metadata }) => !metadata.deletionTimestamp)
}
