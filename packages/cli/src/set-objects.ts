// SPDX-License-Identifier: Apache-2.0

import { label, type PodCliqueSet } from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import { CommandError } from './command-error.ts'
import type { LiveCluster } from './live-cluster.ts'
import type { SetObjects } from './tree/set-model.ts'

/** A set and everything below it, in five requests. */
export async function readSet({ client, namespace }: LiveCluster, name: string): Promise<SetObjects> {
  const ours = async <T extends KubeObject>(resource: Resource<T>): Promise<Stored<T>[]> =>
    (await client.list(resource, { namespace, labelSelector: `${label.partOf}=${name}` })).items
  const set = await client.find(resources.podCliqueSets, { name, namespace })
  if (!set) throw new CommandError(`there is no PodCliqueSet ${name} in namespace ${namespace}`, 1)
  const [groups, cliques, gangs, pods] = await Promise.all([
    ours(resources.podCliqueScalingGroups),
    ours(resources.podCliques),
    ours(resources.podGangs),
    ours(resources.pods),
  ])
  return { set: set as PodCliqueSet, groups, cliques, gangs, pods }
}
