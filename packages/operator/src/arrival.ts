// SPDX-License-Identifier: Apache-2.0

import type { Client, KubeObject, Resource } from '@grove/kube'
import { isControlledBy } from './child-objects.ts'

/** After "already exists": whether what is there is ours and only the watch has not shown it yet. */
export async function hasArrived<T extends KubeObject>(
  client: Pick<Client, 'find'>,
  resource: Resource<T>,
  object: T,
  ownerUid: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { name = '', namespace = '' } = object.metadata ?? {}
  const found = await client.find(resource, { name, namespace }, { signal })
  return found !== undefined && isControlledBy(found, ownerUid) && !found.metadata.deletionTimestamp
}
