// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineResource, type KubeObject } from '@grove/kube'
import { events, nodes, pods } from '../controllers/kinds.ts'
import {
  completed,
  createPod,
  getPod,
  podOf,
  startTestCluster,
  type TestCluster,
} from '../controllers/testing/test-cluster.ts'
import { plainNodes } from '../nodes/topology.ts'

const priorityClasses = defineResource<KubeObject & { value: number }>({
  group: 'scheduling.k8s.io',
  version: 'v1',
  resource: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
})
const small = plainNodes(2, { cpu: '2', memory: '4Gi' })

async function nodeNameOf(cluster: TestCluster, name: string): Promise<string | undefined> {
  return (await getPod(cluster, name))?.spec?.nodeName
}

async function conditionOf(cluster: TestCluster, name: string) {
  return (await getPod(cluster, name))?.status?.conditions?.find(({ type }) => type === 'PodScheduled')
}

describe('the default scheduler', () => {
  it('binds a pod and emits an event', async () => {
    await using cluster = await startTestCluster({ nodes: small })
    await createPod(cluster, podOf('a'))
    await cluster.clock.advance(100)
    const node = await nodeNameOf(cluster, 'a')
    assert.ok(node)
    assert.equal((await conditionOf(cluster, 'a'))?.status, 'True')
    const { items } = await completed(cluster.clock, cluster.client.list(events))
    assert.deepEqual(
      items.filter(({ reason }) => reason === 'Scheduled').map(({ message }) => message),
      [`Successfully assigned default/a to ${node}`],
    )
  })

  it('reports why a pod is unschedulable, and schedules it when resources become free', async () => {
    await using cluster = await startTestCluster({ nodes: small })
    for (const name of ['a', 'b', 'c']) await createPod(cluster, podOf(name, { requests: { cpu: '1500m' } }))
    await cluster.clock.advance(500)
    const condition = await conditionOf(cluster, 'c')
    assert.equal(condition?.status, 'False')
    assert.equal(condition?.reason, 'Unschedulable')
    assert.equal(
      condition?.message,
      '0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.',
    )
    await completed(cluster.clock, cluster.client.delete(pods, { namespace: 'default', name: 'a' }))
    await cluster.clock.advance(5_000)
    assert.ok(await nodeNameOf(cluster, 'c'))
  })

  it('retries when a node is added, a taint is removed or a node is uncordoned, and not otherwise', async () => {
    await using cluster = await startTestCluster({ nodes: 1 })
    await completed(
      cluster.clock,
      cluster.client.patch(nodes, { name: 'node-0' }, { merge: { spec: { unschedulable: true } } }),
    )
    await createPod(cluster, podOf('a'))
    await cluster.clock.advance(3_600_000)
    assert.equal(await nodeNameOf(cluster, 'a'), undefined)
    assert.match(
      (await conditionOf(cluster, 'a'))?.message ?? '',
      /^0\/1 nodes are available: 1 node\(s\) were unschedulable\./,
    )
    await completed(
      cluster.clock,
      cluster.client.patch(nodes, { name: 'node-0' }, { merge: { spec: { unschedulable: null } } }),
    )
    await cluster.clock.advance(1_000)
    assert.equal(await nodeNameOf(cluster, 'a'), 'node-0')
  })

  it('reports that there are no nodes, and ignores gated pods and pods of other schedulers', async () => {
    await using cluster = await startTestCluster()
    await createPod(cluster, podOf('a'))
    await createPod(cluster, podOf('b', { spec: { ...podOf('b').spec, schedulerName: 'other' } }))
    await createPod(
      cluster,
      podOf('c', { spec: { ...podOf('c').spec, schedulingGates: [{ name: 'example.com/wait' }] } }),
    )
    await cluster.clock.advance(1_000)
    assert.equal((await conditionOf(cluster, 'a'))?.message, 'no nodes available to schedule pods')
    await completed(cluster.clock, cluster.controllers.fleet.add(small))
    await cluster.clock.advance(20_000)
    assert.ok(await nodeNameOf(cluster, 'a'))
    assert.equal(await nodeNameOf(cluster, 'b'), undefined)
    assert.equal(await nodeNameOf(cluster, 'c'), undefined)
    await completed(
      cluster.clock,
      cluster.client.patch(
        pods,
        { namespace: 'default', name: 'c' },
        { merge: { spec: { schedulingGates: null } } },
      ),
    )
    await cluster.clock.advance(1_000)
    assert.ok(await nodeNameOf(cluster, 'c'))
  })

  it('never overcommits a node when many pods are created at once', async () => {
    await using cluster = await startTestCluster({
      nodes: plainNodes(10, { cpu: '4', pods: 20 }),
      run: ['scheduler', 'node-lifecycle', 'heartbeats'],
    })
    await completed(
      cluster.clock,
      Promise.all(
        Array.from({ length: 150 }, (_, i) =>
          cluster.client.create(pods, podOf(`p${i}`, { requests: { cpu: `${300 + (i % 5) * 100}m` } })),
        ),
      ),
    )
    await cluster.clock.advance(60_000)
    const { items } = await completed(cluster.clock, cluster.client.list(pods))
    const used = new Map<string, number>()
    for (const { spec } of items)
      if (spec?.nodeName)
        used.set(
          spec.nodeName,
          (used.get(spec.nodeName) ?? 0) +
            Number.parseInt(spec.containers?.[0]?.resources?.requests?.cpu ?? '0', 10),
        )
    assert.ok(
      [...used.values()].every(cpu => cpu <= 4_000),
      JSON.stringify([...used]),
    )
    assert.ok([...used.values()].reduce((sum, cpu) => sum + cpu, 0) > 38_000)
  })

  it('preempts pods of lower priority', async () => {
    await using cluster = await startTestCluster({ nodes: plainNodes(1, { cpu: '2' }) })
    const { clock, client } = cluster
    await completed(clock, client.create(priorityClasses, { metadata: { name: 'high' }, value: 1_000 }))
    await createPod(cluster, podOf('low', { requests: { cpu: '1500m' } }))
    await createPod(cluster, podOf('other', { requests: { cpu: '100m' } }))
    await clock.advance(1_000)
    const high = podOf('high', { requests: { cpu: '1800m' } })
    await createPod(cluster, { ...high, spec: { ...high.spec, priorityClassName: 'high' } })
    await clock.advance(1)
    const waiting = await getPod(cluster, 'high')
    assert.equal(waiting?.status?.nominatedNodeName, 'node-0')
    assert.equal(
      waiting?.status?.conditions?.[0]?.message,
      '0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node node-0, preempting 1 victims',
    )
    const victim = await getPod(cluster, 'low')
    assert.ok(victim?.metadata.deletionTimestamp)
    assert.equal(
      victim?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason,
      'PreemptionByScheduler',
    )
    await clock.advance(10_000)
    assert.equal(await nodeNameOf(cluster, 'high'), 'node-0')
    assert.equal(await getPod(cluster, 'low'), undefined)
    assert.equal(await nodeNameOf(cluster, 'other'), 'node-0')
  })

  it('reconstructs its state after a restart', async () => {
    await using cluster = await startTestCluster({ nodes: plainNodes(1, { cpu: '2' }) })
    await createPod(cluster, podOf('a', { requests: { cpu: '1500m' } }))
    await cluster.clock.advance(1_000)
    await cluster.restart()
    await createPod(cluster, podOf('b', { requests: { cpu: '1' } }))
    await cluster.clock.advance(1_000)
    assert.match((await conditionOf(cluster, 'b'))?.message ?? '', /1 Insufficient cpu/)
  })
})
