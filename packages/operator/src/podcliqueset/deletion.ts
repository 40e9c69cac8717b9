// SPDX-License-Identifier: Apache-2.0

// A set goes away. Owner references and the garbage collector are what is relied on; removing by label what is many
// makes it fast. If those requests fail the collector still finishes the job.
import { finalizer, label, managedLabels, selectorText } from '@grove/api'
import { isNotFound, type KubeObject, type ReconcileResult, type Resource, type Stored } from '@grove/kube'
import type { OperatorContext } from '../operator-context.ts'
import { resources } from '../resources.ts'
import type { StoredSet } from '../stored.ts'
import type { World } from '../world.ts'
import { runAll } from '../writes.ts'
import { areDomainsInUse, releaseComputeDomains } from './compute-domains.ts'

/** Replica indexes that one selector names: keeps the URL far below what servers accept. */
const indexesPerRequest = 200

/** So long after the deletion NVLink domains are kept for pods that do not end; twice the usual grace of a pod. */
const domainsHeldMs = 60_000

/**
 * What is on its way out already is no work for the garbage collector, which would otherwise look at every single one.
 * Nothing is made again in between: neither for a set that goes nor for replicas that are not wanted.
 */
const childrenFirst: readonly Resource<KubeObject>[] = [
  resources.pods,
  resources.podCliques,
  resources.podCliqueScalingGroups,
]

const independent: readonly Resource<KubeObject>[] = [
  resources.podGangs,
  resources.services,
  resources.autoscalers,
]

export async function deleteSet(
  set: StoredSet,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<ReconcileResult | undefined> {
  const { world } = context
  const finalizers = set.metadata.finalizers ?? []
  if (!finalizers.includes(finalizer.podCliqueSet)) return undefined
  const options = {
    namespace: set.metadata.namespace,
    labelSelector: selectorText(managedLabels(set.metadata.name)),
    signal,
  }
  const remove = (resource: Resource<KubeObject>) => world.client.deleteCollection(resource, options)
  await runAll([
    async () => {
      for (const resource of childrenFirst) await remove(resource)
    },
    ...independent.map(resource => () => remove(resource)),
    ...identityOf(set, world).map(([resource, { metadata }]) => async () => {
      const ref = { name: metadata.name, namespace: set.metadata.namespace }
      await world.client.delete(resource, ref, { signal, preconditions: { uid: metadata.uid } })
    }),
  ])
  const releaseAt = Date.parse(set.metadata.deletionTimestamp ?? '') + domainsHeldMs
  if (areDomainsInUse(set, context) && context.clock.now() < releaseAt) return { requeueAt: releaseAt }
  // These alone carry a finalizer that nobody else would take away.
  await releaseComputeDomains(set, context, signal)
  try {
    await world.client.patch(
      resources.podCliqueSets,
      { name: set.metadata.name, namespace: set.metadata.namespace },
      {
        merge: {
          metadata: {
            resourceVersion: set.metadata.resourceVersion,
            finalizers: finalizers.filter(name => name !== finalizer.podCliqueSet),
          },
        },
      },
      { signal },
    )
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return undefined
}

/** Few, but the garbage collector would come to them last. The token's Secret goes with its account. */
function identityOf(set: StoredSet, world: World): [Resource<KubeObject>, Stored<KubeObject>][] {
  const { uid } = set.metadata
  const of = (resource: Resource<KubeObject>, objects: readonly Stored<KubeObject>[]) =>
    objects.map((object): [Resource<KubeObject>, Stored<KubeObject>] => [resource, object])
  return [
    ...of(resources.serviceAccounts, world.serviceAccounts.byIndex('controller', uid)),
    ...of(resources.roleBindings, world.roleBindings.byIndex('controller', uid)),
    ...of(resources.roles, world.roles.byIndex('controller', uid)),
  ]
}

/** Pods and cliques of replicas that are not wanted any more, members of scaling groups included. */
export async function removeReplicas(
  set: StoredSet,
  indexes: readonly number[],
  { world }: OperatorContext,
  signal: AbortSignal,
): Promise<unknown[]> {
  const { namespace, name } = set.metadata
  const requests: (() => Promise<unknown>)[] = []
  for (let at = 0; at < indexes.length; at += indexesPerRequest) {
    const chosen = indexes.slice(at, at + indexesPerRequest).join(',')
    const labelSelector = `${selectorText(managedLabels(name))},${label.setReplicaIndex} in (${chosen})`
    const remove = (resource: Resource<KubeObject>) =>
      world.client.deleteCollection(resource, { namespace, labelSelector, signal })
    requests.push(
      async () => {
        for (const resource of childrenFirst) await remove(resource)
      },
      () => remove(resources.services),
    )
  }
  return runAll(requests)
}
