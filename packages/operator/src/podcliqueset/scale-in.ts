// SPDX-License-Identifier: Apache-2.0

// Replicas that are not wanted any more go by label, in a few requests however large they are.
import {
  type EventValue,
  eventSource,
  events,
  label,
  managedLabels,
  type PodClique,
  type PodCliqueScalingGroup,
  selectorText,
  setErrorCode,
} from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { numberLabel } from '../clique-instance.ts'
import { CodedError, ComponentFailed, textOf } from '../coded-error.ts'
import { replicaCount } from '../layout.ts'
import { keyOf } from '../object-key.ts'
import type { OperatorContext } from '../operator-context.ts'
import { removePlanned, uidsOf } from '../planned-removal.ts'
import { resources } from '../resources.ts'
import type { StoredSet } from '../stored.ts'
import { runAll } from '../writes.ts'

/** What is on its way out already is no work for the garbage collector, and nothing is made again in between. */
const childrenFirst: readonly Resource<KubeObject>[] = [
  resources.pods,
  resources.podCliques,
  resources.podCliqueScalingGroups,
]

/** Replica indexes that one selector names: keeps the URL far below what servers accept. */
const indexesPerRequest = 200

interface Surplus {
  readonly replica: number
  readonly clique?: Stored<PodClique>
  readonly group?: Stored<PodCliqueScalingGroup>
}

/** Removes what is left of replicas beyond the wanted number, members of scaling groups included; returns failures. */
export async function removeSurplusReplicas(
  set: StoredSet,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<unknown[]> {
  const surplus = surplusOf(set, context)
  const indexes = [...new Set(surplus.map(({ replica }) => replica))].sort((a, b) => a - b)
  const batches = Array.from({ length: Math.ceil(indexes.length / indexesPerRequest) }, (_, at) =>
    indexes.slice(at * indexesPerRequest, (at + 1) * indexesPerRequest),
  )
  const failures = await Promise.all(
    batches.map(async batch => {
      const failed = await context.removals.during(set, batch, () => removeBatch(set, batch, context, signal))
      for (const one of surplus)
        if (batch.includes(one.replica))
          context.events.emit(set, eventSource.podCliqueSet, outcomeOf(one, failed[0]))
      return failed
    }),
  )
  return failures
    .flat()
    .map(
      error =>
        new ComponentFailed(
          'PodClique',
          new CodedError('Sync', setErrorCode.deleteClique, 'Error removing replicas of the set', error),
        ),
    )
}

function removeBatch(
  set: StoredSet,
  indexes: readonly number[],
  { world }: OperatorContext,
  signal: AbortSignal,
): Promise<unknown[]> {
  const { namespace, name } = set.metadata
  const labelSelector = `${selectorText(managedLabels(name))},${label.setReplicaIndex} in (${indexes.join(',')})`
  const going = [
    ...world.cliques.byIndex('set', keyOf(set)),
    ...world.groups.byIndex('set', keyOf(set)),
    ...world.services.byIndex('controller', set.metadata.uid),
  ].filter(object => indexes.includes(replicaOf(object)))
  const removal = { namespace, labelSelector, planned: uidsOf(going) }
  const remove = (resource: Resource<KubeObject>) => removePlanned(resource, removal, world, signal)
  return runAll([
    async () => {
      for (const resource of childrenFirst) await remove(resource)
    },
    () => remove(resources.services),
  ])
}

function outcomeOf({ clique, group }: Surplus, error: unknown): EventValue {
  if (clique)
    return error === undefined
      ? events.cliqueDeleted(clique.metadata.name)
      : events.cliqueDeleteFailed(keyOf(clique), textOf(error))
  return error === undefined
    ? events.scalingGroupDeleted(keyOf(group!))
    : events.scalingGroupDeleteFailed(keyOf(group!), textOf(error))
}

function surplusOf(set: StoredSet, { world }: OperatorContext): Surplus[] {
  const { uid } = set.metadata
  return [
    ...world.cliques.byIndex('controller', uid).map(clique => ({ replica: replicaOf(clique), clique })),
    ...world.groups.byIndex('controller', uid).map(group => ({ replica: replicaOf(group), group })),
  ].filter(
    (one: Surplus) =>
      one.replica >= replicaCount(set) && !(one.clique ?? one.group)?.metadata.deletionTimestamp,
  )
}

/** Without an index it is none of those that go by index; the comparison by name finds it. */
function replicaOf({ metadata }: KubeObject): number {
  return numberLabel(metadata?.labels, label.setReplicaIndex) ?? -1
}
