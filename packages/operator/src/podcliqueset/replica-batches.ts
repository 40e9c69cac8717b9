// SPDX-License-Identifier: Apache-2.0

// Deletes replicas, parents before pods. Groups, cliques and pods are deleted by label. Services are deleted one by one,
// because users copy labels to their own Services. The API server deletes the objects of a collection one after the other,
// so large sets are deleted in several collections at a time.
import { label, managedLabels, type Service, selectorText } from '@grove/api'
import type { KubeObject, Stored } from '@grove/kube'
import { execute, executeInOrder } from '../apply/execute.ts'
import type { Intent } from '../apply/intent.ts'
import { uidsOf } from '../apply/planned-removal.ts'
import { setReplicaKey, withinReplicas } from '../caches/replica-index.ts'
import { resources } from '../caches/resources.ts'
import { replicaOf } from '../layout/clique-instance.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import type { OwnChildren } from '../ownership/owner-lookup.ts'

/** Replica indexes that one selector names. The URL stays far below the length that servers accept. */
const indexesPerRequest = 100

export interface ReplicaObjects extends OwnChildren {
  readonly services: readonly Stored<Service>[]
}

export interface RemovedReplicas {
  /** `failure` is undefined if groups, cliques and pods of these replicas were deleted. */
  readonly batches: readonly { readonly indexes: ReadonlySet<number>; readonly failure: unknown }[]
  readonly serviceFailures: readonly unknown[]
}

/** Deletes these objects and their pods. The caller deletes their gangs first. */
export async function removeReplicaBatches(
  set: StoredSet,
  { groups, cliques, services }: ReplicaObjects,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<RemovedReplicas> {
  const indexes = [...new Set([...groups, ...cliques, ...services].map(object => replicaOf(set, object)))]
    .filter(index => index >= 0)
    .sort((a, b) => a - b)
  const batches = Array.from(
    { length: Math.ceil(indexes.length / indexesPerRequest) },
    (_, at) => new Set(indexes.slice(at * indexesPerRequest, (at + 1) * indexesPerRequest)),
  )
  const removed = await Promise.all(
    batches.map(async batch => {
      const of = <T extends KubeObject>(all: readonly T[]) =>
        all.filter(object => batch.has(replicaOf(set, object)))
      const objects = { groups: of(groups), cliques: of(cliques), services: of(services) }
      return { indexes: batch, ...(await removeBatch(set, batch, objects, context, signal)) }
    }),
  )
  return { batches: removed, serviceFailures: removed.flatMap(batch => batch.serviceFailures) }
}

/**
 * Deletes Services, then groups and cliques, then pods. Services come first, because the garbage collector deletes pods as
 * soon as their clique is gone. A Service that cannot be deleted does not keep the pods.
 */
async function removeBatch(
  set: StoredSet,
  indexes: ReadonlySet<number>,
  { groups, cliques, services }: ReplicaObjects,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<{ failure: unknown; serviceFailures: readonly unknown[] }> {
  const { caches } = context
  const { namespace, name } = set.metadata
  const removal = {
    kind: 'deleteCollection' as const,
    namespace,
    labelSelector: `${selectorText(managedLabels(name))},${label.setReplicaIndex} in (${[...indexes].join(',')})`,
    planned: uidsOf([...groups, ...cliques]),
  }
  const keys = Array.from(indexes, replica => setReplicaKey(namespace, name, replica))
  const steps: Intent[][] = [
    [{ ...removal, known: withinReplicas(caches.groups, keys) }],
    [{ ...removal, known: withinReplicas(caches.cliques, keys) }],
    [{ ...removal, known: withinReplicas(caches.pods, keys), planned: uidsOf(cliques), podsOf: set }],
  ]
  const deletions = services.map(
    (object): Intent => ({ kind: 'delete', resource: resources.services, object }),
  )
  const ofServices = await execute(deletions, context, { signal })
  const [failure] = await executeInOrder(steps, context, { signal })
  return { failure, serviceFailures: ofServices.failures }
}
