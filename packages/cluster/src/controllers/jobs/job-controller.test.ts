// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jobs, pods } from '../kinds.ts'
import { completed, startTestCluster, type TestCluster } from '../testing/test-cluster.ts'
import { ranges } from './job-controller.ts'

const ref = { namespace: 'default', name: 'work' }

async function start(spec: object, annotations: Record<string, string>): Promise<TestCluster> {
  const cluster = await startTestCluster({ nodes: 1 })
  const template = {
    metadata: { annotations },
    spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
  }
  await completed(cluster.clock, cluster.client.create(jobs, { metadata: ref, spec: { template, ...spec } }))
  return cluster
}

const statusOf = async (cluster: TestCluster) =>
  (await completed(cluster.clock, cluster.client.find(jobs, ref)))?.status
const runTime = { 'simulate.grove.io/run-time': '5s' }

describe('a job', () => {
  it('runs pods up to its parallelism until enough have succeeded, and is deleted after its TTL', async () => {
    await using cluster = await start(
      { completions: 4, parallelism: 2, ttlSecondsAfterFinished: 60 },
      runTime,
    )
    await cluster.clock.advance(3_000)
    assert.equal((await statusOf(cluster))?.active, 2)
    await cluster.clock.advance(10_000)
    const done = await statusOf(cluster)
    assert.equal(done?.succeeded, 4)
    assert.equal(done?.conditions?.find(({ type }) => type === 'Complete')?.status, 'True')
    assert.ok(done?.completionTime)
    await cluster.clock.advance(61_000)
    assert.equal(await statusOf(cluster), undefined)
    assert.equal((await completed(cluster.clock, cluster.client.list(pods))).items.length, 0)
  })

  it('sets the index of each pod in indexed mode', async () => {
    await using cluster = await start({ completions: 3, parallelism: 3, completionMode: 'Indexed' }, runTime)
    await cluster.clock.advance(6_000)
    const { items } = await completed(cluster.clock, cluster.client.list(pods))
    assert.deepEqual(items.map(({ spec }) => spec?.containers?.[0]?.env?.[0]?.value).sort(), ['0', '1', '2'])
    assert.equal((await statusOf(cluster))?.completedIndexes, '0-2')
  })

  it('fails when its pods failed too often', async () => {
    await using cluster = await start({ backoffLimit: 2 }, { ...runTime, 'simulate.grove.io/exit-code': '1' })
    await cluster.clock.advance(120_000)
    const status = await statusOf(cluster)
    assert.equal(status?.failed, 3)
    assert.equal(status?.conditions?.find(({ type }) => type === 'Failed')?.reason, 'BackoffLimitExceeded')
  })

  it('fails at its active deadline', async () => {
    await using cluster = await start({ activeDeadlineSeconds: 3 }, runTime)
    await cluster.clock.advance(4_000)
    const status = await statusOf(cluster)
    assert.equal(status?.conditions?.find(({ type }) => type === 'Failed')?.reason, 'DeadlineExceeded')
  })

  it('formats completed indexes as ranges', () => {
    assert.equal(ranges([5, 0, 1, 2, 8, 7]), '0-2,5,7,8')
  })
})
