// SPDX-License-Identifier: Apache-2.0

import { type Client, discover, type KubeObject, type Resource, resourceName } from '@grove/kube'
import { type SnapshotObjects, schedulerResources } from '@grove/scheduler'

/** Lists every object that decides about placement, of all namespaces. Kinds that are not served count as empty. */
export async function readClusterObjects(client: Client): Promise<SnapshotObjects> {
  const served = new Set((await discover(client)).map(resourceName))
  const names = Object.keys(schedulerResources) as (keyof typeof schedulerResources)[]
  const lists = await Promise.all(
    names.map(async name => {
      const resource = schedulerResources[name] as Resource<KubeObject>
      return [name, served.has(resourceName(resource)) ? (await client.list(resource)).items : []] as const
    }),
  )
  return Object.fromEntries(lists) as unknown as SnapshotObjects
}
