// SPDX-License-Identifier: Apache-2.0

import { type Client, type DiscoveredResource, isKubeError, type ObjectRef } from '@grove/kube/client'

/**
 * Resolves to true when the object is deleted or replaced by another of the same name. Resolves to false if the signal
 * aborts first.
 */
export async function untilGone(
  client: Client,
  resource: DiscoveredResource,
  ref: ObjectRef,
  uid: string | undefined,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  for (;;) {
    if (signal?.aborted) return false
    const object = await client.find(resource, ref)
    if (!object || (uid !== undefined && object.metadata.uid !== uid)) return true
    const seen = new AbortController()
    try {
      await client.watch(
        resource,
        {
          ...(ref.namespace !== undefined && { namespace: ref.namespace }),
          fieldSelector: `metadata.name=${ref.name}`,
          resourceVersion: object.metadata.resourceVersion,
          signal: signal ? AbortSignal.any([signal, seen.signal]) : seen.signal,
        },
        event => {
          if (event.type === 'DELETED') seen.abort()
        },
      )
    } catch (error) {
      // After an abort, a timeout or an expired resource version, read the object again.
      if (!isKubeError(error, 'Aborted', 'Gone', 'Timeout', 'Network')) throw error
    }
  }
}
