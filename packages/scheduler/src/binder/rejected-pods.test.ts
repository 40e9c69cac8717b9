// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pod } from '@grove/api'
import { plan } from '../plan.ts'
import { defaultPolicy } from '../policy.ts'
import { snapshotFrom } from '../snapshot/index.ts'
import { gpu, memberPod, node, podGang } from '../testing/objects.ts'
import { avoidNodeMs, isRejectedByKubelet, RejectedPods } from './rejected-pods.ts'

function failed(reason: string): Pod {
  const pod = memberPod('g', 'c', 9, { [gpu]: '1' }, { node: 'n1' })
  return { ...pod, status: { phase: 'Failed', reason } } as Pod
}

describe('pods that a kubelet rejects', () => {
  const waiting = memberPod('g', 'c', 0, { [gpu]: '1' })
  const nodes = [node('n1', { [gpu]: '8' }), node('n2', { [gpu]: '8' })]
  const placed = (pods: readonly Pod[]) =>
    plan(
      snapshotFrom({ nodes, pods, podGangs: [podGang('g', [{ name: 'c', min: 1 }])] }),
      defaultPolicy,
      0,
    ).bindings.map(binding => binding.node)

  test('differ from pods that fail later', () => {
    for (const reason of ['OutOfcpu', 'OutOfnvidia.com/gpu', 'UnexpectedAdmissionError', 'NodePorts'])
      assert.ok(isRejectedByKubelet(failed(reason)), reason)
    for (const reason of ['Evicted', 'DeadlineExceeded', ''])
      assert.ok(!isRejectedByKubelet(failed(reason)), reason)
  })

  test('keep their gang from the node for some time, and count once', () => {
    const rejected = new RejectedPods()
    assert.deepEqual(placed(rejected.avoiding([waiting])), ['n1'])
    const pods = [waiting, failed('OutOfcpu')]
    assert.deepEqual(
      rejected.observe(pods, 'grove-scheduler', 0).map(one => `${one.gang} ${one.node} ${one.reason}`),
      ['g n1 OutOfcpu'],
    )
    assert.deepEqual(rejected.observe(pods, 'grove-scheduler', 1_000), [])
    assert.deepEqual(placed(rejected.avoiding([waiting])), ['n2'])
    assert.equal(rejected.msUntilExpiry(1_000), avoidNodeMs - 1_000)
    rejected.observe([waiting], 'grove-scheduler', avoidNodeMs)
    assert.deepEqual(placed(rejected.avoiding([waiting])), ['n1'])
  })

  test('do not keep other gangs from the node, and pods of other schedulers do not count', () => {
    const rejected = new RejectedPods()
    rejected.observe([failed('OutOfcpu')], 'grove-scheduler', 0)
    const other = memberPod('h', 'c', 0, { [gpu]: '1' })
    assert.deepEqual(rejected.avoiding([other]), [other])
    assert.deepEqual(new RejectedPods().observe([failed('OutOfcpu')], 'another', 0), [])
  })

  test('add to the affinity of the pod', () => {
    const rejected = new RejectedPods()
    rejected.observe([failed('OutOfcpu')], 'grove-scheduler', 0)
    const hostname = { key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }
    const bound = memberPod(
      'g',
      'c',
      0,
      { [gpu]: '1' },
      {
        spec: {
          schedulerName: 'grove-scheduler',
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [{ matchExpressions: [hostname] }],
              },
            },
          },
        },
      },
    )
    assert.deepEqual(placed([bound]), ['n1'])
    assert.deepEqual(placed(rejected.avoiding([bound])), [])
  })
})
