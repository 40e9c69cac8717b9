// SPDX-License-Identifier: Apache-2.0

// What the rules of admission ask of the cluster, read directly before they run: a topology binding that was applied
// together with a set is found although no cache has seen it yet.
import { type ClusterView, clusterNeeds, type Lookup, type OperatorConfiguration } from '@grove/api'
import { type Client, defineResource, isKubeError, isNotFound, type KubeObject } from '@grove/kube'
import { textOf } from '../coded-error.ts'
import { resources } from '../resources.ts'

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

export async function lookUp(
  client: Client,
  set: unknown,
  configuration: OperatorConfiguration,
  signal: AbortSignal,
): Promise<ClusterView> {
  const needs = clusterNeeds(set, configuration)
  const [bindings, queues] = await Promise.all([
    collect(needs.topologyBindings, async name => {
      const binding = await client.get(resources.clusterTopologyBindings, { name }, { signal })
      return binding.spec.levels.map(level => level.domain)
    }),
    collect(needs.volcanoQueues, async name => {
      const queue = await client.get(volcanoQueues, { name }, { signal })
      return queue.status?.state ?? ''
    }),
  ])
  return {
    topologyDomains: name => bindings.get(name) ?? { outcome: 'notFound' },
    volcanoQueueState: name => queues.get(name) ?? { outcome: 'notFound' },
  }
}

async function collect<T>(
  names: readonly string[],
  read: (name: string) => Promise<T>,
): Promise<Map<string, Lookup<T>>> {
  return new Map(
    await Promise.all(names.map(async name => [name, await asLookup(() => read(name))] as const)),
  )
}

export async function asLookup<T>(read: () => Promise<T>): Promise<Lookup<T>> {
  try {
    return { outcome: 'found', value: await read() }
  } catch (error) {
    if (isNotFound(error)) return { outcome: 'notFound' }
    if (isKubeError(error)) return { outcome: 'failed', error: textOf(error) }
    throw error
  }
}
