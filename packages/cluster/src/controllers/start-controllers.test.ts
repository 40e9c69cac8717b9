// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deployments, nodes, pods, replicaSets } from './kinds.ts'
import { completed, startTestCluster, type TestCluster } from './testing/test-cluster.ts'

/** A rollout, a node failure, an update during the failure, and the recovery of the node. */
async function runScenario(cluster: TestCluster): Promise<string> {
  const { clock, client, controllers } = cluster
  const labels = { app: 'web' }
  const containers = (image: string) => [{ name: 'c', image, resources: { requests: { cpu: '1' } } }]
  const template = { metadata: { labels }, spec: { containers: containers('a:1') } }
  const ref = { namespace: 'default', name: 'web' }
  const spec = { replicas: 12, selector: { matchLabels: labels }, template }
  await completed(clock, client.create(deployments, { metadata: ref, spec }))
  await clock.advance(5_000)
  await completed(clock, controllers.fleet.kill('node-1'))
  await clock.advance(400_000)
  await completed(
    clock,
    client.patch(deployments, ref, {
      merge: { spec: { template: { spec: { containers: containers('a:2') } } } },
    }),
  )
  await clock.advance(60_000)
  await completed(clock, controllers.fleet.revive('node-1'))
  await clock.advance(60_000)
  const all = await completed(clock, client.list(pods))
  assert.deepEqual(
    all.items.map(pod => pod.spec?.containers?.[0]?.image),
    Array.from({ length: 12 }, () => 'a:2'),
  )
  const others = await completed(
    clock,
    Promise.all([client.list(replicaSets), client.list(deployments), client.list(nodes)]),
  )
  return JSON.stringify([all, ...others])
}

describe('startControllers', () => {
  it('repeats a run for the same seed, and differs for another seed', async () => {
    const run = async (seed: number) => {
      await using cluster = await startTestCluster({ nodes: 4, seed })
      return await runScenario(cluster)
    }
    const [first, again, other] = [await run(7), await run(7), await run(8)]
    assert.equal(first, again)
    assert.notEqual(first, other)
  })

  it('leaves no timer and no request behind after stop', async () => {
    await using cluster = await startTestCluster({ nodes: 3 })
    await cluster.clock.advance(60_000)
    await completed(cluster.clock, cluster.controllers.stop())
    assert.equal(cluster.clock.pendingTimers, 0)
  })

  it('can start a subset of the controllers', async () => {
    await using cluster = await startTestCluster({ run: ['garbage-collector'] })
    assert.deepEqual(
      cluster.controllers.components.map(({ name }) => name),
      ['metadata-monitor', 'garbage-collector'],
    )
    assert.equal(cluster.controllers.scheduler, undefined)
  })
})
