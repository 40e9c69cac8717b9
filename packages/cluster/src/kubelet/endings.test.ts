// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pods } from '../controllers/kinds.ts'
import {
  completed,
  createPod,
  getPod,
  podOf,
  startTestCluster,
  type TestCluster,
} from '../controllers/testing/test-cluster.ts'

const prefix = 'simulate.grove.io/'

async function statusOf(cluster: TestCluster, name: string) {
  const pod = await getPod(cluster, name)
  const conditions = Object.fromEntries(
    (pod?.status?.conditions ?? []).map(({ type, status }) => [type, status]),
  )
  return { pod, status: pod?.status, conditions, main: pod?.status?.containerStatuses?.[0] }
}

describe('the end of a pod or container', () => {
  const endings = [
    ['Always', '0', 'Running', true],
    ['OnFailure', '0', 'Succeeded', false],
    ['OnFailure', '3', 'Running', true],
    ['Never', '0', 'Succeeded', false],
    ['Never', '3', 'Failed', false],
  ] as const
  for (const [restartPolicy, exitCode, phase, restarts] of endings)
    it(`a pod with restart policy ${restartPolicy} whose container exits with ${exitCode} becomes ${phase}`, async () => {
      await using cluster = await startTestCluster({ nodes: 1 })
      const annotations = { [`${prefix}run-time`]: '5s', [`${prefix}exit-code`]: exitCode }
      await createPod(cluster, podOf('a', { annotations, spec: { ...podOf('a').spec, restartPolicy } }))
      await cluster.clock.advance(7_000)
      const { status, main } = await statusOf(cluster, 'a')
      assert.equal(status?.phase, phase)
      assert.equal((main?.restartCount ?? 0) > 0, restarts)
      if (!restarts) assert.equal(main?.state?.terminated?.exitCode, Number(exitCode))
    })

  it('a container is restarted while its liveness probe fails, and stays running afterwards', async () => {
    await using cluster = await startTestCluster({ nodes: 1 })
    const livenessProbe = {
      httpGet: { port: 80 },
      initialDelaySeconds: 5,
      periodSeconds: 2,
      failureThreshold: 2,
    }
    const spec = {
      containers: [
        { name: 'main', image: 'a', livenessProbe },
        { name: 'unprobed', image: 'a' },
      ],
    }
    const sick = { [`${prefix}live`]: 'false' }
    await createPod(cluster, podOf('a', { spec, annotations: sick }))
    await cluster.clock.advance(9_000)
    assert.equal((await statusOf(cluster, 'a')).main?.restartCount, 0)
    await cluster.clock.advance(100)
    const { main, status } = await statusOf(cluster, 'a')
    assert.equal(main?.restartCount, 1)
    assert.equal(main?.started, true)
    const { exitCode, reason } = main?.lastState?.terminated ?? {}
    assert.deepEqual([exitCode, reason], [137, 'Error'])
    assert.notEqual(main?.lastState?.terminated?.containerID, main?.containerID)
    assert.equal(status?.containerStatuses?.[1]?.restartCount, 0)
    const healthy = { metadata: { annotations: { [`${prefix}live`]: null } } }
    const ref = { namespace: 'default', name: 'a' }
    await completed(cluster.clock, cluster.client.patch(pods, ref, { merge: healthy }))
    await cluster.clock.advance(60_000)
    assert.equal((await statusOf(cluster, 'a')).main?.restartCount, 1)
    // The same number of failures is tolerated later, independent of the run time.
    const again = { metadata: { annotations: sick } }
    await completed(cluster.clock, cluster.client.patch(pods, ref, { merge: again }))
    await cluster.clock.advance(3_900)
    assert.equal((await statusOf(cluster, 'a')).main?.restartCount, 1)
    await cluster.clock.advance(200)
    assert.match((await statusOf(cluster, 'a')).main?.state?.waiting?.message ?? '', /^back-off 10s /)
  })

  it('a pod fails when it exceeds its active deadline', async () => {
    await using cluster = await startTestCluster({ nodes: 1 })
    const spec = { ...podOf('a').spec, activeDeadlineSeconds: 20 }
    await createPod(cluster, podOf('a', { spec }))
    await cluster.clock.advance(19_900)
    assert.equal((await statusOf(cluster, 'a')).status?.phase, 'Running')
    await cluster.clock.advance(200)
    const { status, conditions, main } = await statusOf(cluster, 'a')
    assert.deepEqual(
      [status?.phase, status?.reason, status?.message],
      ['Failed', 'DeadlineExceeded', 'Pod was active on the node longer than the specified deadline'],
    )
    assert.equal(main?.state?.terminated?.exitCode, 137)
    assert.equal(conditions.Ready, 'False')
  })

  it('the status contains the exit code and the termination message of a container', async () => {
    await using cluster = await startTestCluster({ nodes: 1 })
    const ending = { [`${prefix}exit-code`]: '3', [`${prefix}message`]: 'no such model' }
    await createPod(cluster, podOf('crash', { annotations: { ...ending, [`${prefix}fail`]: 'crash' } }))
    await createPod(cluster, podOf('exit', { annotations: { ...ending, [`${prefix}fail`]: 'exit' } }))
    await cluster.clock.advance(1_000)
    const crashed = (await statusOf(cluster, 'crash')).main?.lastState?.terminated
    assert.deepEqual([crashed?.exitCode, crashed?.message], [3, 'no such model'])
    const ended = (await statusOf(cluster, 'exit')).main?.state?.terminated
    assert.deepEqual([ended?.exitCode, ended?.reason, ended?.message], [3, 'Error', 'no such model'])
  })
})
