// SPDX-License-Identifier: Apache-2.0

import {
  type Client,
  isConflict,
  isNotFound,
  type KubeObject,
  type ObjectRef,
  type Resource,
  type Stored,
} from '@grove/kube'

/**
 * Deletes exactly this object, and never a successor with the same name. Returns whether this request deleted it: false
 * if it was gone already. A conflict usually means that another object has the name. An admission webhook can return
 * the same code, and then the object still exists: the conflict is thrown, so that the deletion is retried.
 */
export async function deleteByUid<T extends KubeObject>(
  client: Pick<Client, 'delete' | 'find'>,
  resource: Resource<T>,
  { metadata: { name, namespace, uid } }: Stored<T>,
  signal: AbortSignal,
): Promise<boolean> {
  const ref: ObjectRef = { name, ...(namespace && { namespace }) }
  try {
    await client.delete(resource, ref, { signal, preconditions: { uid } })
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    if (!isConflict(error)) throw error
    const found = await client.find(resource, ref, { signal })
    if (found?.metadata.uid === uid && !found.metadata.deletionTimestamp) throw error
    return false
  }
}
