// SPDX-License-Identifier: Apache-2.0

// Reads the objects that the admission rules look up, directly before the rules run. A cache would miss a topology
// binding that was applied together with the set.
import { annotation, type Lookup, label } from '@grove/api'
import { type Client, defineResource, isKubeError, isNotFound, type KubeObject, messageOf } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import type { Facts, Questions } from './webhook-rules.ts'

/** The longest name that Kubernetes allows. Names come from requests: longer ones are not sent to the API server. */
const longestName = 253

interface VolcanoQueue extends KubeObject {
  readonly status?: { readonly state?: string }
}

const volcanoQueues = defineResource<VolcanoQueue>({
  group: 'scheduling.volcano.sh',
  version: 'v1beta1',
  resource: 'queues',
  kind: 'Queue',
  namespaced: false,
})

export async function lookUp(client: Client, questions: Questions, signal: AbortSignal): Promise<Facts> {
  const byName = (name: string) => ({ key: name, name })
  const byKey = ({ namespace, name }: { readonly namespace: string; readonly name: string }) => ({
    key: `${namespace}/${name}`,
    namespace,
    name,
  })
  const [topologyDomains, volcanoQueueStates, podCliqueSetAnnotations, podCliqueLabels] = await Promise.all([
    collect(questions.topologyBindings.map(byName), async ({ name }) => {
      const binding = await client.get(resources.clusterTopologyBindings, { name }, { signal })
      return binding.spec.levels.map(level => level.domain)
    }),
    collect(questions.volcanoQueues.map(byName), async ({ name }) => {
      const queue = await client.get(volcanoQueues, { name }, { signal })
      return queue.status?.state ?? ''
    }),
    collect(
      questions.podCliqueSets.map(byKey),
      async ({ namespace, name }): Promise<Record<string, string>> => {
        const { metadata } = await client.get(resources.podCliqueSets, { namespace, name }, { signal })
        // Only this annotation is kept: the rule reads no other, and the others may be large.
        const value = metadata.annotations?.[annotation.disableProtection]
        return value === undefined ? {} : { [annotation.disableProtection]: value }
      },
    ),
    collect(
      (questions.podCliques ?? []).map(byKey),
      async ({ namespace, name }): Promise<Record<string, string>> => {
        const { metadata } = await client.get(resources.podCliques, { namespace, name }, { signal })
        const group = metadata.labels?.[label.scalingGroup]
        return group === undefined ? {} : { [label.scalingGroup]: group }
      },
    ),
  ])
  return { topologyDomains, volcanoQueueStates, podCliqueSetAnnotations, podCliqueLabels }
}

async function collect<Name extends { readonly key: string; readonly name: string }, T>(
  names: readonly Name[],
  read: (name: Name) => Promise<T>,
): Promise<Map<string, Lookup<T>>> {
  return new Map(
    await Promise.all(
      names.map(async name => [name.key, await asLookup(name.name, () => read(name))] as const),
    ),
  )
}

async function asLookup<T>(name: string, read: () => Promise<T>): Promise<Lookup<T>> {
  if (name.length > longestName) return { outcome: 'notFound' }
  try {
    return { outcome: 'found', value: await read() }
  } catch (error) {
    if (isNotFound(error)) return { outcome: 'notFound' }
    if (isKubeError(error)) return { outcome: 'failed', error: messageOf(error) }
    throw error
  }
}
