// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pods, statefulSets } from '../kinds.ts'
import { completed, startTestCluster, type TestCluster } from '../testing/test-cluster.ts'

const ref = { namespace: 'default', name: 'db' }
const labels = { app: 'db' }
const containers = (image: string) => [{ name: 'c', image }]

async function start(more: object = {}): Promise<TestCluster> {
  const cluster = await startTestCluster({ nodes: 2, kubelet: { settings: { startMs: 1_000, stopMs: 500 } } })
  const template = { metadata: { labels }, spec: { containers: containers('db:1') } }
  const spec = { replicas: 3, serviceName: 'db', selector: { matchLabels: labels }, template, ...more }
  await completed(cluster.clock, cluster.client.create(statefulSets, { metadata: ref, spec }))
  return cluster
}

async function podsOf(cluster: TestCluster): Promise<string[]> {
  const { items } = await completed(cluster.clock, cluster.client.list(pods))
  return items.map(({ metadata, spec }) => `${metadata.name} ${spec?.containers?.[0]?.image}`).sort()
}

describe('a stateful set', () => {
  it('creates its pods in order, each when the previous one is ready', async () => {
    await using cluster = await start()
    const counts: number[] = []
    for (let i = 0; i < 4; i++) {
      await cluster.clock.advance(900)
      counts.push((await podsOf(cluster)).length)
      await cluster.clock.advance(150)
    }
    assert.deepEqual(counts, [1, 2, 3, 3])
    const set = await completed(cluster.clock, cluster.client.get(statefulSets, ref))
    assert.equal(set.status?.readyReplicas, 3)
    assert.equal(set.status?.currentRevision, set.status?.updateRevision)
    const [first] = (await completed(cluster.clock, cluster.client.list(pods))).items
    assert.deepEqual([first?.spec?.hostname, first?.spec?.subdomain], ['db-0', 'db'])
  })

  it('creates all pods at once with the Parallel policy', async () => {
    await using cluster = await start({ podManagementPolicy: 'Parallel' })
    await cluster.clock.advance(100)
    assert.equal((await podsOf(cluster)).length, 3)
  })

  it('is updated from the last to the first pod, down to its partition, and scaled down from the end', async () => {
    await using cluster = await start({
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
    })
    await cluster.clock.advance(3_000)
    const patch = (spec: object) =>
      completed(cluster.clock, cluster.client.patch(statefulSets, ref, { merge: { spec } }))
    await patch({ template: { spec: { containers: containers('db:2') } } })
    await cluster.clock.advance(1_400)
    assert.deepEqual(await podsOf(cluster), ['db-0 db:1', 'db-1 db:1', 'db-2 db:2'])
    await cluster.clock.advance(10_000)
    assert.deepEqual(await podsOf(cluster), ['db-0 db:1', 'db-1 db:2', 'db-2 db:2'])
    await completed(cluster.clock, cluster.client.delete(pods, { namespace: 'default', name: 'db-0' }))
    await cluster.clock.advance(5_000)
    assert.deepEqual(await podsOf(cluster), ['db-0 db:1', 'db-1 db:2', 'db-2 db:2'])
    await patch({ updateStrategy: { rollingUpdate: { partition: 0 } } })
    await cluster.clock.advance(10_000)
    assert.deepEqual(await podsOf(cluster), ['db-0 db:2', 'db-1 db:2', 'db-2 db:2'])
    await patch({ replicas: 1 })
    await cluster.clock.advance(10_000)
    assert.deepEqual(await podsOf(cluster), ['db-0 db:2'])
  })
})
