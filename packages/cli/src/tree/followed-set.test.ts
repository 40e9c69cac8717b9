// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, it } from 'node:test'
import { customResourceDefinitions, label } from '@grove/api'
import { createCluster, inProcessTransport } from '@grove/cluster'
import type { SetObjects } from '@grove/inspect'
import { createClientOn, defineResource, isKubeError, type KubeObject } from '@grove/kube'
import { resources } from '@grove/operator'
import { followSet } from './followed-set.ts'

const definitions = defineResource<KubeObject>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
})

const namespace = 'default'
const where = { name: 'llm', namespace }
const podSpec = { containers: [{ name: 'main', image: 'a' }] }

async function startCluster() {
  const cluster = createCluster()
  const client = createClientOn(inProcessTransport(cluster.handle))
  for (const definition of customResourceDefinitions) await client.create(definitions, definition)
  const end = new AbortController()
  return {
    client,
    follow: (options = {}) => followSet(client, where, { signal: end.signal, ...options }),
    end: () => end.abort(),
    createSet: (replicas: number) =>
      client.create(resources.podCliqueSets, {
        apiVersion: 'grove.io/v1alpha1',
        kind: 'PodCliqueSet',
        metadata: where,
        spec: {
          replicas,
          template: {
            cliques: [{ name: 'a', spec: { roleName: 'a', replicas: 1, minAvailable: 1, podSpec } }],
          },
        },
      } as never),
    createPod: (name: string, set: string) =>
      client.create(resources.pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace, labels: { [label.partOf]: set } },
        spec: podSpec,
      } as never),
    [Symbol.dispose]: () => {
      end.abort()
      cluster.stop()
    },
  }
}

const seen = (picture: SetObjects | undefined) =>
  picture && `${picture.set.spec.replicas} replicas, pods ${picture.pods.map(pod => pod.metadata.name)}`

describe('a followed set', () => {
  it('is returned at once and after every change', async () => {
    using cluster = await startCluster()
    await cluster.createSet(1)
    await cluster.createPod('mine', 'llm')
    const pictures = cluster.follow()
    assert.equal(seen((await pictures.next()).value), '1 replicas, pods mine')
    await cluster.createPod('other', 'another-set')
    await cluster.client.patch(resources.podCliqueSets, where, { merge: { spec: { replicas: 3 } } })
    assert.equal(seen((await pictures.next()).value), '3 replicas, pods mine')
    await cluster.createPod('second', 'llm')
    assert.equal(seen((await pictures.next()).value), '3 replicas, pods mine,second')
    cluster.end()
    assert.equal((await pictures.next()).done, true)
  })

  it('may be created later and deleted', async () => {
    using cluster = await startCluster()
    const pictures = cluster.follow()
    assert.deepEqual(await pictures.next(), { value: undefined, done: false })
    await cluster.createSet(1)
    assert.equal(seen((await pictures.next()).value), '1 replicas, pods ')
    await cluster.client.delete(resources.podCliqueSets, where)
    assert.deepEqual(await pictures.next(), { value: undefined, done: false })
    cluster.end()
    assert.equal((await pictures.next()).done, true)
  })

  it('is returned periodically without a change, if ages are shown', async () => {
    using cluster = await startCluster()
    await cluster.createSet(1)
    const pictures = cluster.follow({ atLeastEveryMs: 10 })
    for (let look = 0; look < 3; look++)
      assert.equal(seen((await pictures.next()).value), '1 replicas, pods ')
    cluster.end()
  })

  it('adds no abort listener per snapshot', async test => {
    using cluster = await startCluster()
    await cluster.createSet(1)
    const combined: AbortSignal[] = []
    const any = AbortSignal.any.bind(AbortSignal)
    test.after(() => Object.assign(AbortSignal, { any }))
    Object.assign(AbortSignal, {
      any: (signals: AbortSignal[]) => {
        combined.push(any(signals))
        return combined.at(-1)
      },
    })
    const snapshots = cluster.follow({ atLeastEveryMs: 1 })
    const listeners = async (count: number) => {
      for (let taken = 0; taken < count; taken++) await snapshots.next()
      // The first signal is the one that followSet waits for.
      return getEventListeners(combined[0]!, 'abort').length
    }
    const before = await listeners(3)
    assert.ok(before > 0)
    assert.equal(await listeners(10), before)
    cluster.end()
    assert.equal((await snapshots.next()).done, true)
  })

  it('ends with an error if reading is forbidden', async () => {
    const cluster = createCluster({
      authorize: async ({ resource }) => (resource === 'pods' ? 'not you' : undefined),
    })
    const client = createClientOn(inProcessTransport(cluster.handle))
    for (const definition of customResourceDefinitions) await client.create(definitions, definition)
    await assert.rejects(followSet(client, where).next(), error => isKubeError(error, 'Forbidden'))
    cluster.stop()
  })
})
