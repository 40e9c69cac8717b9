// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Deployment, deployments, pods, replicaSets } from '../kinds.ts'
import { completed, startTestCluster, type TestCluster } from '../testing/test-cluster.ts'

const ref = { namespace: 'default', name: 'web' }

function webDeployment(replicas: number, image = 'app:1', more: object = {}): Deployment {
  return {
    metadata: { ...ref },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'app', image }] } },
      ...more,
    },
  }
}

const setImage = (cluster: TestCluster, image: string) =>
  completed(
    cluster.clock,
    cluster.client.patch(deployments, ref, {
      merge: { spec: { template: { spec: { containers: [{ name: 'app', image }] } } } },
    }),
  )

async function imagesOf(cluster: TestCluster): Promise<string[]> {
  const { items } = await completed(cluster.clock, cluster.client.list(pods))
  return items
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .map(({ spec }) => spec?.containers?.[0]?.image ?? '')
    .sort()
}

const get = (cluster: TestCluster) => completed(cluster.clock, cluster.client.get(deployments, ref))

describe('a deployment', () => {
  it('creates its pods, rolls out a new template and rolls back, with increasing revisions', async () => {
    await using cluster = await startTestCluster({ nodes: 2 })
    await completed(cluster.clock, cluster.client.create(deployments, webDeployment(3)))
    await cluster.clock.advance(5_000)
    const first = await get(cluster)
    assert.deepEqual(await imagesOf(cluster), ['app:1', 'app:1', 'app:1'])
    assert.equal(first.metadata.annotations?.['deployment.kubernetes.io/revision'], '1')
    const { observedGeneration, replicas, updatedReplicas, availableReplicas } = first.status ?? {}
    assert.deepEqual(
      { observedGeneration, replicas, updatedReplicas, availableReplicas },
      { observedGeneration: 1, replicas: 3, updatedReplicas: 3, availableReplicas: 3 },
    )
    const conditions = Object.fromEntries(
      (first.status?.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
    )
    assert.deepEqual(conditions, {
      Available: 'True MinimumReplicasAvailable',
      Progressing: 'True NewReplicaSetAvailable',
    })
    await setImage(cluster, 'app:2')
    await cluster.clock.advance(10_000)
    assert.deepEqual(await imagesOf(cluster), ['app:2', 'app:2', 'app:2'])
    await setImage(cluster, 'app:1')
    await cluster.clock.advance(10_000)
    assert.deepEqual(await imagesOf(cluster), ['app:1', 'app:1', 'app:1'])
    assert.equal((await get(cluster)).metadata.annotations?.['deployment.kubernetes.io/revision'], '3')
    assert.equal((await completed(cluster.clock, cluster.client.list(replicaSets))).items.length, 2)
  })

  it('stops a rollout whose pods do not become ready, and reports it at the progress deadline', async () => {
    await using cluster = await startTestCluster({ nodes: 2 })
    await completed(
      cluster.clock,
      cluster.client.create(deployments, webDeployment(4, 'app:1', { progressDeadlineSeconds: 60 })),
    )
    await cluster.clock.advance(5_000)
    const template = { metadata: { annotations: { 'simulate.grove.io/ready': 'false' } } }
    await completed(cluster.clock, cluster.client.patch(deployments, ref, { merge: { spec: { template } } }))
    await cluster.clock.advance(30_000)
    const stuck = await get(cluster)
    assert.equal(stuck.status?.availableReplicas, 3)
    assert.equal(stuck.status?.updatedReplicas, 2)
    await cluster.clock.advance(60_000)
    const progressing = (await get(cluster)).status?.conditions?.find(({ type }) => type === 'Progressing')
    assert.equal(progressing?.status, 'False')
    assert.equal(progressing?.reason, 'ProgressDeadlineExceeded')
  })

  it('can be scaled, replaces lost pods, and deletes all its objects with it', async () => {
    await using cluster = await startTestCluster({ nodes: 2 })
    await completed(cluster.clock, cluster.client.create(deployments, webDeployment(2)))
    await cluster.clock.advance(2_000)
    await completed(
      cluster.clock,
      cluster.client.patch(deployments, ref, { merge: { spec: { replicas: 5 } } }),
    )
    await cluster.clock.advance(2_000)
    const { items } = await completed(cluster.clock, cluster.client.list(pods))
    assert.equal(items.length, 5)
    await completed(cluster.clock, cluster.client.delete(pods, items[0]!.metadata))
    await cluster.clock.advance(2_000)
    assert.equal((await get(cluster)).status?.availableReplicas, 5)
    await completed(
      cluster.clock,
      cluster.client.patch(deployments, ref, { merge: { spec: { replicas: 1 } } }),
    )
    await cluster.clock.advance(2_000)
    assert.equal((await imagesOf(cluster)).length, 1)
    await completed(cluster.clock, cluster.client.delete(deployments, ref))
    await cluster.clock.advance(5_000)
    assert.equal((await completed(cluster.clock, cluster.client.list(replicaSets))).items.length, 0)
    assert.equal((await completed(cluster.clock, cluster.client.list(pods))).items.length, 0)
  })

  it('writes nothing when it is in sync', async () => {
    await using cluster = await startTestCluster({ nodes: 1 })
    await completed(cluster.clock, cluster.client.create(deployments, webDeployment(2)))
    await cluster.clock.advance(10_000)
    const before = (await get(cluster)).metadata.resourceVersion
    await cluster.clock.advance(3_600_000)
    assert.equal((await get(cluster)).metadata.resourceVersion, before)
  })

  it('keeps as many old ReplicaSets as its history limit', async () => {
    await using cluster = await startTestCluster({ nodes: 1 })
    await completed(
      cluster.clock,
      cluster.client.create(deployments, webDeployment(1, 'app:0', { revisionHistoryLimit: 1 })),
    )
    for (let version = 1; version <= 4; version++) {
      await cluster.clock.advance(5_000)
      await setImage(cluster, `app:${version}`)
    }
    await cluster.clock.advance(5_000)
    assert.equal((await completed(cluster.clock, cluster.client.list(replicaSets))).items.length, 2)
  })

  it('retries with backoff when its pods are rejected, and reports the reason once', async () => {
    let attempts = 0
    await using cluster = await startTestCluster({
      between: transport => ({
        request: request => {
          if (request.method === 'POST' && request.path.endsWith('/pods')) attempts++
          return transport.request(request)
        },
        stream: request => transport.stream(request),
        close: () => transport.close(),
      }),
    })
    const rejected = { containers: [{ name: 'app', image: 'app:1' }], priorityClassName: 'missing' }
    const template = { metadata: { labels: { app: 'web' } }, spec: rejected }
    await completed(
      cluster.clock,
      cluster.client.create(deployments, webDeployment(1, 'app:1', { template })),
    )
    for (let tenth = 0; tenth < 20; tenth++) await cluster.clock.advance(100)
    assert.ok(attempts > 1 && attempts < 20, `${attempts} attempts in two seconds`)
    const { items } = await completed(cluster.clock, cluster.client.list(replicaSets))
    const conditions = items[0]?.status?.conditions ?? []
    assert.deepEqual(
      conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`),
      ['ReplicaFailure True FailedCreate'],
    )
  })
})
