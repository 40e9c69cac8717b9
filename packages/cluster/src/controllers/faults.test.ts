// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Transport, TransportError, type TransportResponse } from '@grove/kube'
import { seededRandom } from '../random.ts'
import { deployments, nodes, pods, replicaSets } from './kinds.ts'
import { completed, startTestCluster } from './testing/test-cluster.ts'

const rejection = (status: number, reason: string): TransportResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ kind: 'Status', status: 'Failure', reason, code: status, message: 'injected' }),
})

/** A transport that loses requests, responses and watches and rejects some requests, while enabled. */
class Unreliable {
  readonly #random
  troubled = false

  constructor(seed: number) {
    this.#random = seededRandom(seed)
  }

  readonly around = (inner: Transport): Transport => ({
    request: async request => {
      const dice = this.troubled ? this.#random.integer(100) : 100
      if (dice < 4) throw new TransportError('network', true, 'the request was lost')
      if (dice < 8) return rejection(500, 'InternalError')
      if (dice < 12 && request.method !== 'GET') return rejection(409, 'Conflict')
      const response = await inner.request(request)
      if (dice < 16) throw new TransportError('network', true, 'the response was lost')
      return response
    },
    stream: async request => {
      const stream = await inner.stream(request)
      return { ...stream, body: this.#cut(stream.body) }
    },
    close: () => inner.close(),
  })

  async *#cut(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    for await (const chunk of body) {
      if (this.troubled && this.#random.integer(100) < 3)
        throw new TransportError('network', true, 'the watch was cut')
      yield chunk
    }
  }
}

describe('after faults between the controllers and the API server', () => {
  for (const seed of [1, 2, 3, 4])
    it(`the cluster converges to the same state as without faults (seed ${seed})`, async () => {
      const unreliable = new Unreliable(seed)
      await using cluster = await startTestCluster({ nodes: 4, seed, between: unreliable.around })
      const { clock, client, controllers } = cluster
      const ref = { namespace: 'default', name: 'web' }
      const labels = { app: 'web' }
      const template = (image: string) => ({
        metadata: { labels },
        spec: { containers: [{ name: 'c', image, resources: { requests: { cpu: '4' } } }] },
      })
      unreliable.troubled = true
      const spec = { replicas: 10, selector: { matchLabels: labels }, template: template('a:1') }
      await completed(clock, client.create(deployments, { metadata: ref, spec }))
      await clock.advance(20_000)
      await completed(
        clock,
        client.patch(deployments, ref, { merge: { spec: { template: template('a:2'), replicas: 14 } } }),
      )
      await clock.advance(20_000)
      await completed(clock, client.delete(nodes, { name: 'node-3' }))
      await clock.advance(60_000)
      unreliable.troubled = false
      await clock.advance(300_000)

      const { items } = await completed(clock, client.list(pods))
      const ready = items.filter(({ status }) =>
        status?.conditions?.some(each => each.type === 'Ready' && each.status === 'True'),
      )
      assert.equal(items.length, 14)
      assert.equal(ready.length, 14)
      assert.ok(
        items.every(pod => pod.spec?.containers?.[0]?.image === 'a:2' && pod.spec.nodeName !== 'node-3'),
      )
      for (const name of ['node-0', 'node-1', 'node-2'])
        assert.ok(
          items.filter(pod => pod.spec?.nodeName === name).length * 4 <= 32,
          `${name} is overcommitted`,
        )
      assert.equal(new Set(items.map(({ status }) => status?.podIP)).size, 14)
      const { status } = await completed(clock, client.get(deployments, ref))
      assert.equal(status?.availableReplicas, 14)
      assert.equal(controllers.scheduler?.waiting.unschedulable, 0)
      await completed(clock, client.delete(deployments, ref))
      await clock.advance(60_000)
      assert.equal((await completed(clock, client.list(pods))).items.length, 0)
      assert.equal((await completed(clock, client.list(replicaSets))).items.length, 0)
    })
})
