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

const prefix = 'simulate.grove.io/'
const settings = { startMs: 1_000, initMs: 2_000, readyMs: 3_000, stopMs: 4_000 }

async function statusOf(cluster: TestCluster, name: string) {
  const pod = await getPod(cluster, name)
  const conditions = Object.fromEntries(
    (pod?.status?.conditions ?? []).map(({ type, status }) => [type, status]),
  )
  return { pod, status: pod?.status, conditions, main: pod?.status?.containerStatuses?.[0] }
}

describe('a pod on a simulated node', () => {
  it('gets an address, runs its init containers in order, then runs its containers and becomes ready', async () => {
    await using cluster = await startTestCluster({ nodes: 1, kubelet: { settings } })
    const spec = {
      initContainers: [
        { name: 'one', image: 'i' },
        { name: 'two', image: 'i' },
      ],
      containers: [{ name: 'main', image: 'app', readinessProbe: { httpGet: { port: 80 } } }],
    }
    await createPod(cluster, podOf('a', { spec }))
    const seen: string[] = []
    for (let second = 0; second < 9; second++) {
      const { status, conditions } = await statusOf(cluster, 'a')
      const states = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map(
        ({ state, ready }) =>
          state?.waiting?.reason ??
          (state?.running ? `running${ready ? '+' : ''}` : state?.terminated?.reason),
      )
      seen.push(
        `${second} ${status?.phase} ${states.join(',')} ${conditions.Initialized} ${conditions.Ready} ${status?.podIP ?? '-'}`,
      )
      await cluster.clock.advance(1_000)
    }
    assert.deepEqual(seen, [
      '0 Pending PodInitializing,PodInitializing,PodInitializing False False -',
      '1 Pending running,PodInitializing,PodInitializing False False 198.18.0.1',
      '2 Pending running,PodInitializing,PodInitializing False False 198.18.0.1',
      '3 Pending Completed,running,PodInitializing False False 198.18.0.1',
      '4 Pending Completed,running,PodInitializing False False 198.18.0.1',
      '5 Running Completed,Completed,running True False 198.18.0.1',
      '6 Running Completed,Completed,running True False 198.18.0.1',
      '7 Running Completed,Completed,running True False 198.18.0.1',
      '8 Running Completed,Completed,running+ True True 198.18.0.1',
    ])
  })

  it('has the same status as with a real kubelet', async () => {
    await using cluster = await startTestCluster({ nodes: 1 })
    await createPod(cluster, podOf('a'))
    await cluster.clock.advance(1_000)
    const { status, conditions, main } = await statusOf(cluster, 'a')
    assert.deepEqual(conditions, {
      PodReadyToStartContainers: 'True',
      Initialized: 'True',
      Ready: 'True',
      ContainersReady: 'True',
      PodScheduled: 'True',
    })
    assert.equal(status?.hostIP, '127.0.0.1')
    assert.deepEqual(status?.podIPs, [{ ip: '198.18.0.1' }])
    assert.equal(status?.qosClass, 'BestEffort')
    assert.equal(status?.observedGeneration, 1)
    assert.match(main?.containerID ?? '', /^containerd:\/\/[0-9a-f]{64}$/)
    assert.equal(main?.started, true)
    assert.equal(main?.restartCount, 0)
  })

  it('restarts a crashing container at once, then with exponential backoff', async () => {
    await using cluster = await startTestCluster({ nodes: 1 })
    await createPod(cluster, podOf('a', { annotations: { [`${prefix}fail`]: 'crash' } }))
    await cluster.clock.advance(1_000)
    const { main, status, pod } = await statusOf(cluster, 'a')
    assert.equal(status?.phase, 'Running')
    assert.equal(main?.restartCount, 1)
    assert.deepEqual(main?.state?.waiting, {
      reason: 'CrashLoopBackOff',
      message: `back-off 10s restarting failed container=main pod=a_default(${pod?.metadata.uid})`,
    })
    assert.equal(main?.lastState?.terminated?.exitCode, 1)
    await cluster.clock.advance(10_000)
    assert.match((await statusOf(cluster, 'a')).main?.state?.waiting?.message ?? '', /^back-off 20s /)
    await completed(
      cluster.clock,
      cluster.client.patch(
        pods,
        { namespace: 'default', name: 'a' },
        { merge: { metadata: { annotations: { [`${prefix}fail`]: null } } } },
      ),
    )
    await cluster.clock.advance(20_000)
    const healed = await statusOf(cluster, 'a')
    assert.equal(healed.main?.restartCount, 3)
    assert.equal(healed.conditions.Ready, 'True')
  })

  it('stops within its stop delay, limited by its grace period', async () => {
    await using cluster = await startTestCluster({ nodes: 1, kubelet: { settings } })
    const slow = { [`${prefix}stop-delay`]: '1h' }
    await createPod(cluster, podOf('quick'))
    await createPod(cluster, podOf('slow', { annotations: slow }))
    await cluster.clock.advance(2_000)
    for (const name of ['quick', 'slow'])
      await completed(cluster.clock, cluster.client.delete(pods, { namespace: 'default', name }))
    await cluster.clock.advance(3_999)
    assert.ok((await getPod(cluster, 'quick'))?.metadata.deletionTimestamp)
    await cluster.clock.advance(1)
    assert.equal(await getPod(cluster, 'quick'), undefined)
    await cluster.clock.advance(25_000)
    assert.ok(await getPod(cluster, 'slow'))
    await cluster.clock.advance(1_000)
    assert.equal(await getPod(cluster, 'slow'), undefined)
  })

  it('is ready only if all readiness gates are true', async () => {
    await using cluster = await startTestCluster({ nodes: 1 })
    const spec = { ...podOf('a').spec, readinessGates: [{ conditionType: 'example.com/in-rotation' }] }
    await createPod(cluster, podOf('a', { spec }))
    await cluster.clock.advance(1_000)
    const before = await statusOf(cluster, 'a')
    assert.equal(before.conditions.ContainersReady, 'True')
    assert.equal(before.conditions.Ready, 'False')
    const conditions = [{ type: 'example.com/in-rotation', status: 'True' }]
    await completed(
      cluster.clock,
      cluster.client.patch(
        pods,
        { namespace: 'default', name: 'a' },
        { strategic: { status: { conditions } } },
        { subresource: 'status' },
      ),
    )
    await cluster.clock.advance(100)
    assert.equal((await statusOf(cluster, 'a')).conditions.Ready, 'True')
  })

  it('follows changes of its annotations', async () => {
    await using cluster = await startTestCluster({ nodes: 1 })
    await createPod(cluster, podOf('a', { annotations: { [`${prefix}ready`]: 'false' } }))
    const set = (annotations: Record<string, string | null>) =>
      completed(
        cluster.clock,
        cluster.client.patch(
          pods,
          { namespace: 'default', name: 'a' },
          { merge: { metadata: { annotations } } },
        ),
      )
    await cluster.clock.advance(10_000)
    assert.equal((await statusOf(cluster, 'a')).conditions.Ready, 'False')
    await set({ [`${prefix}ready`]: null })
    await cluster.clock.advance(100)
    assert.equal((await statusOf(cluster, 'a')).conditions.Ready, 'True')
    await set({ [`${prefix}fail`]: 'exit' })
    await cluster.clock.advance(100)
    assert.equal((await statusOf(cluster, 'a')).status?.phase, 'Failed')
  })

  it('waits for an init container that runs in this process, and reports its exit code', async () => {
    const finished = Promise.withResolvers<{ exitCode: number }>()
    await using cluster = await startTestCluster({
      nodes: 1,
      kubelet: {
        runInitContainer: (_, container, { log }) => {
          if (container.name !== 'waiter') return undefined
          log('waiting for the leader')
          return finished.promise
        },
      },
    })
    const spec = { ...podOf('a').spec, initContainers: [{ name: 'waiter', image: 'waiter' }] }
    await createPod(cluster, podOf('a', { spec }))
    await cluster.clock.advance(3_600_000)
    const { pod, status } = await statusOf(cluster, 'a')
    assert.ok(status?.initContainerStatuses?.[0]?.state?.running)
    assert.equal(
      cluster.controllers.kubelet?.logs.read(pod!, 'waiter', new URLSearchParams()),
      'waiting for the leader\n',
    )
    finished.resolve({ exitCode: 0 })
    await cluster.clock.advance(1_000)
    assert.equal((await statusOf(cluster, 'a')).conditions.Ready, 'True')
  })

  it('keeps its status and address when the kubelet restarts', async () => {
    await using cluster = await startTestCluster({ nodes: 1 })
    for (const name of ['a', 'b']) await createPod(cluster, podOf(name))
    await cluster.clock.advance(1_000)
    const before = await statusOf(cluster, 'b')
    await cluster.restart()
    await createPod(cluster, podOf('c'))
    await cluster.clock.advance(1_000)
    const after = await statusOf(cluster, 'b')
    assert.deepEqual(after.status, before.status)
    const addresses = await Promise.all(
      ['a', 'b', 'c'].map(async name => (await getPod(cluster, name))?.status?.podIP),
    )
    assert.equal(new Set(addresses).size, 3)
  })
})

describe('a node that fails', () => {
  it('keeps its pods unchanged, becomes NotReady, and removes deleted pods when it is back', async () => {
    await using cluster = await startTestCluster({ nodes: 1 })
    await createPod(cluster, podOf('a'))
    await cluster.clock.advance(1_000)
    await completed(cluster.clock, cluster.controllers.fleet.kill('node-0'))
    await completed(cluster.clock, cluster.client.delete(pods, { namespace: 'default', name: 'a' }))
    await cluster.clock.advance(70_000)
    assert.ok(await getPod(cluster, 'a'))
    const node = await completed(cluster.clock, cluster.client.get(nodes, { name: 'node-0' }))
    assert.equal(node.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'Unknown')
    await completed(cluster.clock, cluster.controllers.fleet.revive('node-0'))
    await cluster.clock.advance(1_000)
    assert.equal(await getPod(cluster, 'a'), undefined)
    const back = await completed(cluster.clock, cluster.client.get(nodes, { name: 'node-0' }))
    assert.equal(back.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True')
    assert.equal(back.spec?.taints, undefined)
  })
})
