// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { evictPod, isKubeError } from '@grove/kube'
import { deployments, podDisruptionBudgets, pods } from '../kinds.ts'
import { completed, startTestCluster, type TestCluster } from '../testing/test-cluster.ts'
import { allowance } from './allowance.ts'

async function withBudget(cluster: TestCluster, replicas: number, budget: object): Promise<void> {
  const labels = { app: 'web' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const spec = { replicas, selector: { matchLabels: labels }, template }
  const metadata = { namespace: 'default', name: 'web' }
  await completed(cluster.clock, cluster.client.create(deployments, { metadata, spec }))
  await completed(
    cluster.clock,
    cluster.client.create(podDisruptionBudgets, {
      metadata,
      spec: { selector: { matchLabels: labels }, ...budget },
    }),
  )
  await cluster.clock.advance(5_000)
}

const statusOf = async (cluster: TestCluster) =>
  (
    await completed(
      cluster.clock,
      cluster.client.get(podDisruptionBudgets, { namespace: 'default', name: 'web' }),
    )
  ).status

describe('a disruption budget', () => {
  const cases = [
    [{ minAvailable: 3 }, 3, 1],
    [{ minAvailable: '50%' }, 2, 2],
    [{ maxUnavailable: 1 }, 3, 1],
    [{ maxUnavailable: '60%' }, 1, 3],
  ] as const
  for (const [budget, desiredHealthy, disruptionsAllowed] of cases)
    it(`${JSON.stringify(budget)} allows ${disruptionsAllowed} disruptions of four pods`, async () => {
      await using cluster = await startTestCluster({ nodes: 1 })
      await withBudget(cluster, 4, budget)
      const status = await statusOf(cluster)
      assert.deepEqual(
        [status?.expectedPods, status?.currentHealthy, status?.desiredHealthy, status?.disruptionsAllowed],
        [4, 4, desiredHealthy, disruptionsAllowed],
      )
    })

  it('allows evictions up to its limit, and more when new pods are ready', async () => {
    await using cluster = await startTestCluster({ nodes: 1 })
    await withBudget(cluster, 3, { maxUnavailable: 1 })
    const { items } = await completed(cluster.clock, cluster.client.list(pods))
    const evict = (index: number) =>
      completed(cluster.clock, evictPod(cluster.client, items[index]!.metadata as { name: string }))
    await evict(0)
    await assert.rejects(evict(1), error => isKubeError(error, 'TooManyRequests'))
    await cluster.clock.advance(5_000)
    await evict(1)
  })

  it('no longer counts an eviction that did not happen', () => {
    const pod = {
      metadata: { name: 'a', uid: 'u', resourceVersion: '1' },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    }
    const budget = { spec: { minAvailable: 0 }, status: { disruptedPods: { a: '1970-01-01T00:00:00Z' } } }
    assert.equal(allowance(budget, [pod], 1, 119_000).disruptionsAllowed, 0)
    assert.equal(allowance(budget, [pod], 1, 119_000).nextChange, 120_000)
    assert.equal(allowance(budget, [pod], 1, 120_000).disruptionsAllowed, 1)
  })
})
