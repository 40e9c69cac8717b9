// SPDX-License-Identifier: Apache-2.0

// The work of the API server, measured in allocated bytes. Its CPU time gives the same picture, but depends on the
// other load of the machine.
import type { Client } from '@grove/kube'

/** Starts counting. The result returns the megabytes allocated since then. */
export async function countAllocated(client: Client): Promise<() => Promise<number>> {
  const before = await allocatedBytes(client)
  return async () => ((await allocatedBytes(client)) - before) / 1e6
}

async function allocatedBytes(client: Client): Promise<number> {
  const metrics = await client.raw({ verb: 'get', method: 'GET', path: '/metrics', accept: 'text/plain' })
  const [, bytes] = /^go_memstats_alloc_bytes_total (\S+)$/m.exec(String(metrics)) ?? []
  if (bytes === undefined) throw new Error('the metrics of the API server do not contain its allocated bytes')
  return Number(bytes)
}
