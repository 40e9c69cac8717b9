// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createCluster, seededRandom, serveHttps } from '@grove/cluster'
import { startKubernetes, waitFor } from '@grove/test-kubernetes'
import { comparable } from './comparable.ts'
import { Http } from './http.ts'
import { definitionsPath } from './objects.ts'
import { randomDefinition } from './random-kinds.ts'
import { randomOperation } from './random-operations.ts'

const steps = Number(process.env.GROVE_STEPS ?? 3_000)
const first = Number(process.env.GROVE_SEED ?? process.env.SEED ?? 1)
const seeds = Array.from({ length: Number(process.env.GROVE_SEEDS ?? 1) }, (_, index) => first + index)

describe('random operations', () => {
  it(`have the same result on both servers (GROVE_SEED=${first}, GROVE_SEEDS=${seeds.length})`, async () => {
    await using kubernetes = await startKubernetes({
      controllers: false,
      scheduler: false,
      kwok: false,
      flags: { 'kube-apiserver': ['--disable-admission-plugins=ServiceAccount'] },
    })
    const cluster = createCluster()
    const front = await serveHttps({ handle: cluster.handle })
    const { authority, admin } = front.certificates
    const real = new Http({
      server: kubernetes.server,
      ca: kubernetes.ca,
      certificate: kubernetes.admin.cert,
      key: kubernetes.admin.key,
    })
    const embedded = new Http({
      server: front.url,
      ca: authority,
      certificate: admin.cert,
      key: admin.key,
    })
    try {
      for (const http of [real, embedded]) await define(http)
      for (const seed of seeds) await compare(real, embedded, seed)
    } finally {
      real.close()
      embedded.close()
      await front.close()
      cluster.stop()
    }
  })
})

/** Creates the custom resource definition and waits until it is served. */
async function define(http: Http): Promise<void> {
  await http.post(definitionsPath, randomDefinition)
  await waitFor('the custom kind', async () => {
    const response = await http.get('/apis/random.example.com/v1/widgets')
    return response.status === 200
  })
}

/** Every seed uses its own namespace. */
async function compare(real: Http, embedded: Http, seed: number): Promise<void> {
  const random = seededRandom(seed)
  const namespace = `random-${seed}`
  for (const http of [real, embedded])
    await http.post('/api/v1/namespaces', { metadata: { name: namespace } })
  for (let step = 0; step < steps; step++) {
    const { method, path, body, query, contentType } = randomOperation(random, namespace)
    const options = { ...(query && { query }), ...(contentType && { contentType }) }
    const [wanted, got] = await Promise.all(
      [real, embedded].map(http => http.call(method, path, body, options)),
    )
    assert.deepEqual(
      comparable(got!),
      comparable(wanted!),
      `seed ${seed}, step ${step}: ${method} ${path} ${JSON.stringify(query ?? {})} ${JSON.stringify(body)}`,
    )
  }
}
