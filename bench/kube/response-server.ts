// SPDX-License-Identifier: Apache-2.0

// A process that responds to every create like an API server, from memory, to measure the client alone. It responds at
// once, or with a bounded rate like a busy server.
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

interface Orders {
  readonly cert: string
  readonly key: string
  /** The shortest time between two responses. */
  readonly gapMs: number
}

/** The size of the responses of a real API server for the pods of the benchmarks. */
const managedFields = [
  {
    manager: 'bench',
    operation: 'Update',
    apiVersion: 'v1',
    time: '2030-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [`f:field-${i}`, { '.': {}, 'f:name': {}, 'f:value': {} }]),
    ),
  },
]
const stored = {
  uid: '00000000-0000-4000-8000-000000000000',
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '2030-01-01T00:00:00Z',
  managedFields,
}

process.once('message', message => {
  const { cert, key, gapMs } = message as Orders
  let nextAt = 0
  const server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const { metadata, ...rest } = JSON.parse(Buffer.concat(chunks).toString())
      const body = JSON.stringify({
        metadata: { ...metadata, ...stored },
        ...rest,
        status: { phase: 'Pending' },
      })
      response.writeHead(201, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'cache-control': 'no-cache, private',
        'audit-id': stored.uid,
      })
      const now = performance.now()
      nextAt = Math.max(now, nextAt + gapMs)
      if (nextAt > now) setTimeout(() => response.end(body), nextAt - now)
      else response.end(body)
    })
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
})
