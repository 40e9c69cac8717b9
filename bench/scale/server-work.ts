// SPDX-License-Identifier: Apache-2.0

// The work of the API server, measured in allocated bytes. Its CPU time gives the same picture, but depends on the
// other load of the machine.
import type { Client } from '@grove/kube'

/** Starts counting. The result returns the megabytes allocated since then. */
export async function countAllocated(client: Client): Promise<() => Promise<number>> {
  const before = await allocatedBytes(client)
  return async () => ((await allocatedBytes(client)) - before) / 1e6
}

/** Starts counting. The result returns the writes of all clients since then, by verb and resource. */
export async function countRequests(client: Client): Promise<() => Promise<Record<string, number>>> {
  const before = await writesOf(client)
  return async () =>
    Object.fromEntries(
      [...(await writesOf(client))]
        .map(([what, count]) => [what, count - (before.get(what) ?? 0)] as const)
        .filter(([, count]) => count > 0)
        .sort(([, left], [, right]) => right - left),
    )
}

const writeVerbs = new Set(['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE', 'DELETECOLLECTION'])
/** Heartbeats of nodes and of elected leaders do not depend on the workload. */
const heartbeats = new Set(['leases', 'nodes/status'])

async function writesOf(client: Client): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (const [, labels = '', count] of (await metricsOf(client)).matchAll(
    /^apiserver_request_total\{([^}]*)\} (\S+)$/gm,
  )) {
    const {
      verb = '',
      resource = '',
      subresource = '',
    } = Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]))
    const path = subresource ? `${resource}/${subresource}` : resource
    if (!writeVerbs.has(verb) || heartbeats.has(path)) continue
    const what = `${verb} ${path}`
    counts.set(what, (counts.get(what) ?? 0) + Number(count))
  }
  return counts
}

async function metricsOf(client: Client): Promise<string> {
  return String(await client.raw({ verb: 'get', method: 'GET', path: '/metrics', accept: 'text/plain' }))
}

async function allocatedBytes(client: Client): Promise<number> {
  const metrics = await metricsOf(client)
  const [, bytes] = /^go_memstats_alloc_bytes_total (\S+)$/m.exec(metrics) ?? []
  if (bytes === undefined) throw new Error('the metrics of the API server do not contain its allocated bytes')
  return Number(bytes)
}
