// SPDX-License-Identifier: Apache-2.0

// Deletes replicas, parents before pods: groups, cliques and pods by label, Services, of which users have some, too, one by
// one. The API server deletes the objects of a collection one after the other, so large sets are deleted in several
// collections at a time.
import { label, managedLabels, type Service, selectorText } from '@grove/api'
import type { KubeObject, Stored } from '@grove/kube'
import { removeByUid, removePlanned, removePodsOf, uidsOf } from '../apply/planned-removal.ts'
import { runAll } from '../apply/writes.ts'
import { setReplicaKey, withinReplicas } from '../caches/replica-index.ts'
import { resources } from '../caches/resources.ts'
import { numberLabel } from '../layout/clique-instance.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import type { OwnChildren } from '../ownership/owner-lookup.ts'

/** Replica indexes that one selector names. The URL stays far below the length that servers accept. */
const indexesPerRequest = 100

export interface ReplicaObjects extends OwnChildren {
  readonly services: readonly Stored<Service>[]
}

export interface RemovedReplicas {
  /** Without a failure, groups, cliques and pods of these replicas were deleted. */
  readonly batches: readonly { readonly indexes: ReadonlySet<number>; readonly failure: unknown }[]
  readonly serviceFailures: readonly unknown[]
}

/** Deletes these objects and their pods. Gangs are to be deleted before. */
export async function removeReplicaBatches(
  set: StoredSet,
  { groups, cliques, services }: ReplicaObjects,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<RemovedReplicas> {
  const indexes = [...new Set([...groups, ...cliques, ...services].map(replicaOf))]
    .filter(index => index >= 0)
    .sort((a, b) => a - b)
  const going = services.map(service => ({ service, removed: Promise.withResolvers<void>() }))
  const serviceFailures = runAll(
    going.map(({ service, removed }) => async () => {
      const [failure] = await removeByUid(resources.services, [service], context.caches.client, signal)
      removed.resolve()
      if (failure) throw failure
    }),
  )
  const batches = Array.from(
    { length: Math.ceil(indexes.length / indexesPerRequest) },
    (_, at) => new Set(indexes.slice(at * indexesPerRequest, (at + 1) * indexesPerRequest)),
  )
  const removed = batches.map(async batch => {
    const of = <T extends KubeObject>(all: readonly T[]) => all.filter(object => batch.has(replicaOf(object)))
    const ofBatch = going.filter(({ service }) => batch.has(replicaOf(service)))
    const withoutServices = Promise.all(ofBatch.map(one => one.removed.promise))
    const children = { groups: of(groups), cliques: of(cliques) }
    const remove = () => removeBatch(set, batch, children, withoutServices, context, signal)
    const [failure] = await runAll([remove])
    return { indexes: batch, failure }
  })
  return { batches: await Promise.all(removed), serviceFailures: await serviceFailures }
}

/** Groups before cliques: the garbage collector deletes pods as soon as their clique is gone. */
async function removeBatch(
  set: StoredSet,
  indexes: ReadonlySet<number>,
  { groups, cliques }: OwnChildren,
  withoutServices: Promise<unknown>,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { caches } = context
  const { namespace, name } = set.metadata
  const labelSelector = `${selectorText(managedLabels(name))},${label.setReplicaIndex} in (${[...indexes].join(',')})`
  const replicas = Array.from(indexes, replica => setReplicaKey(namespace, name, replica))
  const removal = { namespace, labelSelector, planned: uidsOf([...groups, ...cliques]), replicas }
  await removePlanned(withinReplicas(caches.groups, replicas), removal, caches.client, signal)
  await removePlanned(withinReplicas(caches.cliques, replicas), removal, caches.client, signal)
  await withoutServices
  await removePodsOf(set, uidsOf(cliques), removal, context, signal)
}

/** -1 for an object without an index, which no selector by index matches. */
export function replicaOf({ metadata }: KubeObject): number {
  return numberLabel(metadata?.labels, label.setReplicaIndex) ?? -1
}
