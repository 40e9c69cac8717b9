// SPDX-License-Identifier: Apache-2.0

import type { Timer } from '@grove/kube'
import { objectKey } from './object.ts'
import type { ServerContext } from './server/context.ts'

const events = 'events'

const sweepMs = 60_000

/**
 * Removes events that were not written for `ttlMs`, as the real API server does. Returns a function that
 * stops it.
 */
export function expireEvents({ store, clock }: ServerContext, ttlMs: number): () => void {
  let timer: Timer | undefined
  const sweep = (): void => {
    timer = undefined
    const oldest = clock.now() - ttlMs
    for (const event of store.list(events, { prefix: '' }).items) {
      const seen = Date.parse(String(event.lastTimestamp ?? event.metadata.creationTimestamp))
      if (seen <= oldest)
        store.remove(events, objectKey(event.metadata.namespace, event.metadata.name!), event)
    }
    if (store.count(events) > 0) schedule()
  }
  const schedule = (): void => {
    timer ??= clock.setTimeout(sweep, sweepMs)
  }
  if (store.count(events) > 0) schedule()
  const stop = store.observe(({ resource, type }) => {
    if (resource === events && type === 'ADDED') schedule()
  })
  return () => {
    stop()
    timer?.cancel()
  }
}
