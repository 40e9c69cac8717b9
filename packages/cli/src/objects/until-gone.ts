// SPDX-License-Identifier: Apache-2.0

import { type Client, type DiscoveredResource, isKubeError, type ObjectRef } from '@grove/kube'

/** Resolves when the object is gone, or another has its name: true. False when the signal came first. */
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
      // Seen, out of time, or a watch that cannot begin so far back: the next look tells.
      if (!isKubeError(error, 'Aborted', 'Gone', 'Timeout', 'Network')) throw error
    }
  }
}
