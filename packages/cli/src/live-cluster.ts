// SPDX-License-Identifier: Apache-2.0

import { label, type PodCliqueSet } from '@grove/api'
import {
  type Client,
  createClient,
  isKubeError,
  type KubeObject,
  loadConfig,
  type Resource,
  type Stored,
} from '@grove/kube'
import { resources } from '@grove/operator'
import { CommandError } from './command-error.ts'
import type { SetObjects } from './tree/set-tree.ts'

export interface ClusterOptions {
  readonly namespace?: string
  readonly kubeconfig?: string
  readonly context?: string
}

export interface LiveCluster {
  readonly client: Client
  readonly namespace: string
}

/** The cluster that the kubeconfig names, with the namespace of its context unless another is asked for. */
export function liveCluster(options: ClusterOptions): LiveCluster {
  try {
    const config = loadConfig({
      ...(options.kubeconfig !== undefined && { path: options.kubeconfig }),
      ...(options.context !== undefined && { context: options.context }),
    })
    return {
      client: createClient(config, { userAgent: 'grove-cli' }),
      namespace: options.namespace ?? config.namespace,
    }
  } catch (error) {
    throw new CommandError(`no cluster to talk to: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** A set and everything below it, in five requests. */
export async function readSet({ client, namespace }: LiveCluster, name: string): Promise<SetObjects> {
  const ours = async <T extends KubeObject>(resource: Resource<T>): Promise<Stored<T>[]> =>
    (await client.list(resource, { namespace, labelSelector: `${label.partOf}=${name}` })).items
  const set = await answered(client.find(resources.podCliqueSets, { name, namespace }))
  if (!set) throw new CommandError(`there is no PodCliqueSet ${name} in namespace ${namespace}`, 1)
  const [groups, cliques, gangs, pods] = await answered(
    Promise.all([
      ours(resources.podCliqueScalingGroups),
      ours(resources.podCliques),
      ours(resources.podGangs),
      ours(resources.pods),
    ]),
  )
  return { set: set as PodCliqueSet, groups, cliques, gangs, pods }
}

async function answered<T>(request: Promise<T>): Promise<T> {
  try {
    return await request
  } catch (error) {
    if (isKubeError(error)) throw new CommandError(`the cluster says: ${error.message}`)
    throw error
  }
}
