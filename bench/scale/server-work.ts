// SPDX-License-Identifier: Apache-2.0

// What the API server does: the bytes that it allocates for it. Its processor time says the same, but depends on what else
// the machine does at the moment.
import type { Client } from '@grove/kube'

/** Starts counting; the result tells how many megabytes were allocated since. */
export async function countAllocated(client: Client): Promise<() => Promise<number>> {
  const before = await allocatedBytes(client)
  return async () => ((await allocatedBytes(client)) - before) / 1e6
}

async function allocatedBytes(client: Client): Promise<number> {
  const metrics = await client.raw({ verb: 'get', method: 'GET', path: '/metrics', accept: 'text/plain' })
  const [, bytes] = /^go_memstats_alloc_bytes_total (\S+)$/m.exec(String(metrics)) ?? []
  if (bytes === undefined) throw new Error('the metrics of the API server do not tell what it allocated')
  return Number(bytes)
}
