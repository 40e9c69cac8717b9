// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nodes } from '../kinds.ts'
import {
  completed,
  createPod,
  getPod,
  podOf,
  startTestCluster,
  type TestCluster,
} from '../testing/test-cluster.ts'
import { evictionTime } from './taint-eviction.ts'

async function taintsOf(cluster: TestCluster, name = 'node-0'): Promise<string[]> {
  const node = await completed(cluster.clock, cluster.client.get(nodes, { name }))
  return (node.spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`).sort()
}

describe('a node', () => {
  it('without heartbeats is tainted, and its pods are evicted after their toleration time', async () => {
    await using cluster = await startTestCluster({ nodes: 1 })
    await createPod(cluster, podOf('patient'))
    const tolerations = [
      {
        key: 'node.kubernetes.io/unreachable',
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 10,
      },
    ]
    await createPod(cluster, podOf('hasty', { spec: { ...podOf('x').spec, tolerations } }))
    await cluster.clock.advance(5_000)
    await completed(cluster.clock, cluster.controllers.fleet.kill('node-0'))
    await cluster.clock.advance(40_000)
    assert.deepEqual(await taintsOf(cluster), [])
    await cluster.clock.advance(12_000)
    assert.deepEqual(await taintsOf(cluster), [
      'node.kubernetes.io/unreachable:NoExecute',
      'node.kubernetes.io/unreachable:NoSchedule',
    ])
    const ready = (await getPod(cluster, 'patient'))?.status?.conditions?.find(({ type }) => type === 'Ready')
    assert.equal(ready?.status, 'False')
    await cluster.clock.advance(10_000)
    assert.ok((await getPod(cluster, 'hasty'))?.metadata.deletionTimestamp)
    assert.equal((await getPod(cluster, 'patient'))?.metadata.deletionTimestamp, undefined)
    await cluster.clock.advance(300_000)
    const evicted = await getPod(cluster, 'patient')
    assert.ok(evicted?.metadata.deletionTimestamp)
    assert.equal(
      evicted?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason,
      'DeletionByTaintManager',
    )
  })

  it('with a manual taint loses a pod after its toleration time, counted from when the taint was seen', async () => {
    await using cluster = await startTestCluster({ nodes: 1 })
    const tolerations = [
      { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 10 },
      { key: 'k', operator: 'Exists', effect: 'NoSchedule' },
    ]
    await createPod(cluster, podOf('brief', { spec: { ...podOf('x').spec, tolerations } }))
    await cluster.clock.advance(1_000)
    const taints = [{ key: 'k', effect: 'NoExecute' }]
    const patch = { merge: { spec: { taints } } }
    await completed(cluster.clock, cluster.client.patch(nodes, { name: 'node-0' }, patch))
    await cluster.clock.advance(9_000)
    assert.equal((await getPod(cluster, 'brief'))?.metadata.deletionTimestamp, undefined)
    await cluster.clock.advance(2_000)
    assert.equal(await getPod(cluster, 'brief'), undefined)
  })

  it('has the unschedulable taint while it is cordoned', async () => {
    await using cluster = await startTestCluster({ nodes: 1 })
    const cordon = (unschedulable: boolean | null) =>
      completed(
        cluster.clock,
        cluster.client.patch(nodes, { name: 'node-0' }, { merge: { spec: { unschedulable } } }),
      )
    await cordon(true)
    await cluster.clock.advance(100)
    assert.deepEqual(await taintsOf(cluster), ['node.kubernetes.io/unschedulable:NoSchedule'])
    await cordon(null)
    await cluster.clock.advance(100)
    assert.deepEqual(await taintsOf(cluster), [])
  })

  it('that is deleted loses its pods, unless it is registered again in time', async () => {
    await using cluster = await startTestCluster({ nodes: 2 })
    const on = (nodeName: string) => ({ spec: { ...podOf('x').spec, nodeName } })
    await createPod(cluster, podOf('a', on('node-0')))
    await createPod(cluster, podOf('b', on('node-1')))
    await cluster.clock.advance(1_000)
    await completed(cluster.clock, cluster.controllers.fleet.remove(['node-0']))
    await cluster.clock.advance(39_000)
    assert.ok(await getPod(cluster, 'a'))
    await cluster.clock.advance(2_000)
    assert.equal(await getPod(cluster, 'a'), undefined)
    assert.ok(await getPod(cluster, 'b'))
  })

  it('stays unchanged while it sends heartbeats', async () => {
    await using cluster = await startTestCluster({ nodes: 1 })
    await cluster.clock.advance(3_600_000)
    assert.deepEqual(await taintsOf(cluster), [])
  })
})

describe('the eviction time', () => {
  const taint = { key: 'k', effect: 'NoExecute', timeAdded: '1970-01-01T00:00:10Z' }
  const podWith = (
    tolerations: NonNullable<NonNullable<Parameters<typeof evictionTime>[0]['spec']>['tolerations']>,
  ) => podOf('p', { spec: { containers: [], tolerations } })
  const cases = [
    ['is immediate without a toleration', [], 50_000],
    ['is never with an unlimited toleration', [{ key: 'k', operator: 'Exists' }], undefined],
    [
      'is counted from the time of the taint',
      [{ key: 'k', operator: 'Exists', tolerationSeconds: 60 }],
      70_000,
    ],
    [
      'is the earliest of several tolerations',
      [
        { key: 'k', operator: 'Exists', tolerationSeconds: 60 },
        { operator: 'Exists', tolerationSeconds: 45 },
      ],
      55_000,
    ],
  ] as const
  for (const [text, tolerations, expected] of cases)
    it(text, () => assert.equal(evictionTime(podWith([...tolerations]), [taint], 50_000), expected))
})
