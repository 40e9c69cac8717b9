// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { plainNodes } from '../../nodes/topology.ts'
import { daemonSets, nodes, pods } from '../kinds.ts'
import { completed, startTestCluster, type TestCluster } from '../testing/test-cluster.ts'

const ref = { namespace: 'default', name: 'agent' }

async function placesOf(cluster: TestCluster): Promise<string[]> {
  const { items } = await completed(cluster.clock, cluster.client.list(pods))
  return items.map(({ spec }) => `${spec?.nodeName} ${spec?.containers?.[0]?.image}`).sort()
}

describe('a daemon set', () => {
  it('has one pod on each eligible node, including new and cordoned nodes', async () => {
    await using cluster = await startTestCluster({ nodes: 2 })
    const { clock, client } = cluster
    await completed(
      clock,
      client.patch(nodes, { name: 'node-0' }, { merge: { spec: { unschedulable: true } } }),
    )
    const labels = { app: 'agent' }
    const template = (image: string) => ({
      metadata: { labels },
      spec: { containers: [{ name: 'c', image }] },
    })
    await completed(
      clock,
      client.create(daemonSets, {
        metadata: ref,
        spec: { selector: { matchLabels: labels }, template: template('a:1') },
      }),
    )
    await clock.advance(2_000)
    assert.deepEqual(await placesOf(cluster), ['node-0 a:1', 'node-1 a:1'])
    const taints = [{ key: 'gpu', effect: 'NoSchedule' as const }]
    await completed(
      clock,
      cluster.controllers.fleet.add([...plainNodes(3).slice(2), { name: 'tainted', labels: {}, taints }]),
    )
    await clock.advance(2_000)
    assert.deepEqual(await placesOf(cluster), ['node-0 a:1', 'node-1 a:1', 'node-2 a:1'])
    await completed(clock, client.patch(daemonSets, ref, { merge: { spec: { template: template('a:2') } } }))
    await clock.advance(10_000)
    assert.deepEqual(await placesOf(cluster), ['node-0 a:2', 'node-1 a:2', 'node-2 a:2'])
    const { status } = await completed(clock, client.get(daemonSets, ref))
    assert.deepEqual(
      [status?.desiredNumberScheduled, status?.numberReady, status?.updatedNumberScheduled],
      [3, 3, 3],
    )
  })
})
