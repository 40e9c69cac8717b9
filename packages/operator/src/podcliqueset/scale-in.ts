// SPDX-License-Identifier: Apache-2.0

// Deletes replicas that are no longer wanted. Parents are deleted before pods: when the last pod of a replica is
// gone, no clique, group, gang or Service of it is left. Cliques, groups and pods are deleted by label, in a few
// requests for any number of them. Gangs carry no replica index, and users copy labels to their own Services, so both
// are deleted one by one.
import {
  type EventValue,
  eventSource,
  events,
  managedLabels,
  type PodClique,
  type PodCliqueScalingGroup,
  selectorText,
} from '@grove/api'
import { type KubeObject, messageOf, type Stored } from '@grove/kube'
import { execute } from '../apply/execute.ts'
import type { Intent } from '../apply/intent.ts'
import { setErrors } from '../errors/catalogue.ts'
import { ComponentFailed } from '../errors/coded-error.ts'
import { replicaOf } from '../layout/clique-instance.ts'
import { replicaCount } from '../layout/layout.ts'
import { keyOf } from '../layout/object-key.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { ownChildren } from '../ownership/owner-lookup.ts'
import { gangDeletions, gangsOf } from '../podgang/removal.ts'
import { removeReplicaBatches } from './replica-batches.ts'

interface Surplus {
  readonly replica: number
  readonly clique?: Stored<PodClique>
  readonly group?: Stored<PodCliqueScalingGroup>
}

interface RemovalFailures {
  readonly gangs: readonly unknown[]
  readonly replicas: readonly unknown[]
}

/** Deletes the remaining objects of surplus replicas, including members of scaling groups. Returns the failures. */
export async function removeSurplusReplicas(
  set: StoredSet,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<unknown[]> {
  const surplus = surplusOf(set, context)
  const indexes = [...new Set(surplus.map(({ replica }) => replica))].sort((a, b) => a - b)
  const failures = await context.memory.removals.during(set, indexes, () =>
    removeReplicas(set, indexes, surplus, context, signal),
  )
  const ofPodsLeft = failures.replicas.length ? [] : await removePodsLeft(set, context, signal)
  return [
    ...failures.gangs.map(error => new ComponentFailed('PodGang', error)),
    ...[...failures.replicas, ...ofPodsLeft].map(
      error => new ComponentFailed('PodClique', setErrors.removeReplicas(error)),
    ),
  ]
}

async function removeReplicas(
  set: StoredSet,
  indexes: readonly number[],
  surplus: readonly Surplus[],
  context: OperatorContext,
  signal: AbortSignal,
): Promise<RemovalFailures> {
  const { caches, events: sink } = context
  const removed = new Set(indexes)
  const isOfRemoved = (object: KubeObject) => removed.has(replicaOf(set, object))
  const own = ownChildren(set, caches)
  const cliques = own.cliques.filter(isOfRemoved)
  const groups = own.groups.filter(isOfRemoved)
  const services = caches.services.byIndex('controller', set.metadata.uid).filter(isOfRemoved)
  const deletions = gangDeletions(set, gangsOf(set, cliques, caches), caches)
  const { failures: gangs } = await execute(deletions, context, { signal })
  // The component that creates Services deletes or reports a Service that is left.
  const { batches } = await removeReplicaBatches(set, { groups, cliques, services }, context, signal)
  for (const { indexes, failure } of batches)
    for (const one of surplus)
      if (indexes.has(one.replica)) sink.emit(set, eventSource.podCliqueSet, outcomeOf(one, failure))
  return { gangs, replicas: batches.flatMap(({ failure }) => failure ?? []) }
}

/** Deletes pods of cliques that an earlier reconcile deleted. Returns the failure. */
async function removePodsLeft(
  set: StoredSet,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const { namespace, name } = set.metadata
  const removal = { namespace, labelSelector: selectorText(managedLabels(name)) }
  const cliques = new Set(context.memory.removals.podsLeft(set))
  if (cliques.size === 0) return []
  const pods: Intent = {
    kind: 'deleteCollection',
    known: context.caches.pods,
    ...removal,
    planned: cliques,
    podsOf: set,
  }
  return (await execute([pods], context, { signal })).failures
}

function outcomeOf({ clique, group }: Surplus, error: unknown): EventValue {
  if (clique)
    return error === undefined
      ? events.cliqueDeleted(clique.metadata.name)
      : events.cliqueDeleteFailed(keyOf(clique), messageOf(error))
  return error === undefined
    ? events.scalingGroupDeleted(keyOf(group!))
    : events.scalingGroupDeleteFailed(keyOf(group!), messageOf(error))
}

function surplusOf(set: StoredSet, { caches }: OperatorContext): Surplus[] {
  const { uid } = set.metadata
  return [
    ...caches.cliques.byIndex('controller', uid).map(clique => ({ replica: replicaOf(set, clique), clique })),
    ...caches.groups.byIndex('controller', uid).map(group => ({ replica: replicaOf(set, group), group })),
  ].filter(
    (one: Surplus) =>
      one.replica >= replicaCount(set) && !(one.clique ?? one.group)?.metadata.deletionTimestamp,
  )
}
