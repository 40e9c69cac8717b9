// SPDX-License-Identifier: Apache-2.0

// A set goes away. Owner references and the garbage collector are what is relied on; removing by label what is many
// makes it fast. If those requests fail the collector still finishes the job.
import { finalizer, label, managedLabels, selectorText } from '@grove/api'
import { isNotFound, type KubeObject, type Resource } from '@grove/kube'
import type { OperatorContext } from '../operator-context.ts'
import { resources } from '../resources.ts'
import type { StoredSet } from '../stored.ts'
import { runAll } from '../writes.ts'
import { releaseComputeDomains } from './compute-domains.ts'

/** Replica indexes that one selector names: keeps the URL far below what servers accept. */
const indexesPerRequest = 200

export async function deleteSet(
  set: StoredSet,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { world } = context
  const finalizers = set.metadata.finalizers ?? []
  if (!finalizers.includes(finalizer.podCliqueSet)) return
  const options = {
    namespace: set.metadata.namespace,
    labelSelector: selectorText(managedLabels(set.metadata.name)),
    signal,
  }
  const collections: Resource<KubeObject>[] = [
    resources.podCliques,
    resources.pods,
    resources.podGangs,
    resources.podCliqueScalingGroups,
    resources.services,
    resources.autoscalers,
  ]
  await runAll(collections.map(resource => () => world.client.deleteCollection(resource, options)))
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
    const collections: Resource<KubeObject>[] = [
      resources.podCliqueScalingGroups,
      resources.podCliques,
      resources.pods,
      resources.services,
    ]
    requests.push(async () => {
      // Parents first, so that nothing is made again in between.
      for (const resource of collections)
        await world.client.deleteCollection(resource, { namespace, labelSelector, signal })
    })
  }
  return runAll(requests)
}
