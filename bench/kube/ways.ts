// SPDX-License-Identifier: Apache-2.0

// Clients that create many pods, for comparison.
import { type ClusterConfig, createClient, type TlsMaterial } from '@grove/kube'
import { Pool } from 'undici'
import { type Pod, pods } from './pods.ts'

/** Creates these pods. */
export type Create = (wanted: readonly Pod[]) => Promise<void>

export interface Way {
  readonly name: string
  readonly create: Create
  readonly close?: () => Promise<void>
}

/** By default without managedFields in the results, like the operator. */
export function client(
  config: ClusterConfig,
  maxInFlight: number,
  { http2 = false, managedFields = false } = {},
): Way {
  const client = createClient(config, { maxInFlight, http2, managedFields, userAgent: 'bench/1' })
  return {
    name: `client${http2 ? ', HTTP/2' : ''}, ${maxInFlight} in flight${managedFields ? ', whole objects' : ''}`,
    // Like the other clients, it discards the results.
    create: async wanted =>
      void (await Promise.all(wanted.map(async pod => void (await client.create(pods, pod))))),
    close: () => client.close(),
  }
}

/** A loop that is optimised for speed alone. */
export function plainLoop(config: ClusterConfig, concurrency: number): Way {
  const { ca, certificate, key } = config.tls() as TlsMaterial
  const connect = { ca, cert: certificate, key }
  const pool = new Pool(config.server, { connections: concurrency, allowH2: false, connect })
  async function createOne(pod: Pod): Promise<void> {
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: `/api/v1/namespaces/${pod.metadata!.namespace}/pods`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(pod),
    })
    const text = await body.text()
    if (statusCode !== 201) throw new Error(text)
    JSON.parse(text)
  }
  async function create(wanted: readonly Pod[]): Promise<void> {
    const left = [...wanted]
    const worker = async () => {
      for (let pod = left.pop(); pod; pod = left.pop()) await createOne(pod)
    }
    await Promise.all(Array.from({ length: concurrency }, worker))
  }
  return { name: `plain undici, ${concurrency} at once`, create, close: () => pool.close() }
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const upper = Math.floor(sorted.length / 2)
  return sorted.length % 2 ? sorted[upper]! : (sorted[upper - 1]! + sorted[upper]!) / 2
}
