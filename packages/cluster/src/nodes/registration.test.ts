// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nodes, pods } from '../controllers/kinds.ts'
import {
  completed,
  createPod,
  getPod,
  podOf,
  startTestCluster,
  type TestCluster,
} from '../controllers/testing/test-cluster.ts'

const conditionOf = async (cluster: TestCluster, name: string) => {
  const node = await completed(cluster.clock, cluster.client.find(nodes, { name }))
  return node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status
}

const isReady = async (cluster: TestCluster, name: string) =>
  (await getPod(cluster, name))?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'

describe('a manually created Node', () => {
  it('becomes ready and runs pods, even if it only has a name', async () => {
    await using cluster = await startTestCluster({ nodes: 0 })
    await createPod(cluster, podOf('waits'))
    await cluster.clock.advance(1_000)
    assert.equal(await isReady(cluster, 'waits'), false)
    const bare = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'mine' } }
    await completed(cluster.clock, cluster.client.create(nodes, bare))
    await cluster.clock.advance(15_000)
    const node = await completed(cluster.clock, cluster.client.get(nodes, { name: 'mine' }))
    assert.equal(await conditionOf(cluster, 'mine'), 'True')
    assert.equal(node.metadata.labels?.['kubernetes.io/hostname'], 'mine')
    assert.deepEqual(node.status?.allocatable, node.status?.capacity)
    assert.match(node.status?.nodeInfo?.containerRuntimeVersion ?? '', /^simulated:/)
    assert.deepEqual(node.spec?.taints ?? [], [])
    assert.equal(await isReady(cluster, 'waits'), true)
  })

  it('keeps its own labels and capacity', async () => {
    await using cluster = await startTestCluster({ nodes: 0 })
    const capacity = { cpu: '4', memory: '8Gi', pods: '10', 'example.com/device': '2' }
    await completed(
      cluster.clock,
      cluster.client.create(nodes, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'small', labels: { 'kubernetes.io/hostname': 'other' } },
        status: { capacity },
      }),
    )
    await cluster.clock.advance(15_000)
    const node = await completed(cluster.clock, cluster.client.get(nodes, { name: 'small' }))
    assert.deepEqual(node.status?.allocatable, capacity)
    assert.equal(node.metadata.labels?.['kubernetes.io/hostname'], 'other')
  })
})

describe('a machine that fails and recovers', () => {
  it('loses its pods after the default toleration time, and deletes evicted pods when it is back', async () => {
    await using cluster = await startTestCluster({ nodes: 2 })
    const deployment = { spec: { ...podOf('x').spec, nodeName: 'node-0' } }
    await createPod(cluster, podOf('victim', deployment))
    await cluster.clock.advance(2_000)
    assert.equal(await isReady(cluster, 'victim'), true)
    await completed(cluster.clock, cluster.controllers.fleet.kill('node-0'))
    await cluster.clock.advance(60_000)
    assert.equal(await conditionOf(cluster, 'node-0'), 'Unknown')
    assert.equal(await isReady(cluster, 'victim'), false)
    await cluster.clock.advance(310_000)
    assert.ok(
      (await getPod(cluster, 'victim'))?.metadata.deletionTimestamp,
      'evicted, but no kubelet confirms it',
    )
    await completed(cluster.clock, cluster.controllers.fleet.revive('node-0'))
    await cluster.clock.advance(60_000)
    assert.equal(await conditionOf(cluster, 'node-0'), 'True')
    assert.equal(await getPod(cluster, 'victim'), undefined)
    await createPod(cluster, podOf('next', deployment))
    await cluster.clock.advance(2_000)
    assert.equal(await isReady(cluster, 'next'), true)
    const left = await completed(cluster.clock, cluster.client.list(pods))
    assert.equal(left.items.length, 1)
  })
})
