// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Node, Pod } from '@grove/api'
import type { Change, ChangeSource, KubeObject } from '@grove/kube'
import { gpu, memberPod, node, pod, podGang } from '../testing/objects.ts'
import { gangNeedsCycle, nodeNeedsCycle, podNeedsCycle } from './needs-cycle.ts'

type PodPhase = NonNullable<NonNullable<Pod['status']>['phase']>

function update<T>(from: T, to: T, source: ChangeSource = 'watch'): Change<T & KubeObject> {
  return { type: 'update', old: from, new: to, source } as unknown as Change<T & KubeObject>
}

function added<T>(object: T): Change<T & KubeObject> {
  return { type: 'add', old: undefined, new: object, source: 'watch' } as unknown as Change<T & KubeObject>
}

function deleted<T>(object: T, source: ChangeSource = 'watch'): Change<T & KubeObject> {
  return { type: 'delete', old: object, new: undefined, source } as unknown as Change<T & KubeObject>
}

const withStatus = (one: Pod, phase: PodPhase, ready = false): Pod => ({
  ...one,
  status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
})

describe('a change of a node leads to a cycle', () => {
  const before = node('n', { [gpu]: '8' })

  test('if the node is new, is gone, or offers something else', () => {
    assert.equal(nodeNeedsCycle(added(before)), true)
    assert.equal(nodeNeedsCycle(deleted(before)), true)
    for (const after of [
      node('n', { [gpu]: '7' }),
      node('n', { [gpu]: '8' }, { labels: { rack: 'r1' } }),
      node('n', { [gpu]: '8' }, { taints: [{ key: 'a', effect: 'NoSchedule' }] }),
      node('n', { [gpu]: '8' }, { unschedulable: true }),
    ])
      assert.equal(nodeNeedsCycle(update(before, after)), true, JSON.stringify(after))
  })

  test('not if it is a heartbeat', () => {
    const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:00:00Z' }]
    const after = {
      ...before,
      metadata: { ...before.metadata, annotations: { a: 'b' } },
      status: { ...before.status, conditions },
    } as unknown as Node
    assert.equal(nodeNeedsCycle(update(before, after)), false)
  })
})

describe('a change of a pod leads to a cycle', () => {
  const foreign = withStatus(pod('other', { cpu: '1' }, { node: 'n' }), 'Pending')
  const member = withStatus(memberPod('w-0', 'a', 0, { cpu: '1' }, { node: 'n' }), 'Pending')

  test('if the pod is new, gone, bound, terminating or finished', () => {
    const waiting = withStatus(pod('other', { cpu: '1' }), 'Pending')
    assert.equal(podNeedsCycle(added(foreign)), true)
    assert.equal(podNeedsCycle(deleted(foreign)), true)
    assert.equal(podNeedsCycle(update(waiting, foreign)), true)
    assert.equal(podNeedsCycle(update(foreign, withStatus(foreign, 'Succeeded'))), true)
    const terminating = withStatus(pod('other', { cpu: '1' }, { node: 'n', terminating: true }), 'Pending')
    assert.equal(podNeedsCycle(update(foreign, terminating)), true)
  })

  test('if a pod of a gang runs or becomes ready, because the status of the gang reports it', () => {
    const running = withStatus(member, 'Running')
    assert.equal(podNeedsCycle(update(member, running)), true)
    assert.equal(podNeedsCycle(update(running, withStatus(running, 'Running', true))), true)
  })

  test('if its status names a claim that was generated from a template', () => {
    const resourceClaimStatuses = [{ name: 'device', resourceClaimName: 'w-0-a-0-device' }]
    const after = { ...member, status: { ...member.status, resourceClaimStatuses } }
    assert.equal(podNeedsCycle(update(member, after)), true)
  })

  test('not if a pod of no gang runs or becomes ready', () => {
    assert.equal(podNeedsCycle(update(foreign, withStatus(foreign, 'Running', true))), false)
  })

  test('not if only another condition of a pod changes, for example the cause for which it waits', () => {
    const conditions = [
      ...(member.status?.conditions ?? []),
      { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '3 cpu missing' },
    ]
    const after = { ...member, status: { ...member.status, conditions } } as Pod
    assert.equal(podNeedsCycle(update(member, after)), false)
  })
})

describe('a change of a gang leads to a cycle', () => {
  const gang = podGang('w-0', [{ name: 'a', min: 1 }])

  test('if another client has written it, or it is gone', () => {
    assert.equal(gangNeedsCycle(update(gang, gang)), true)
    assert.equal(gangNeedsCycle(deleted(gang)), true)
    assert.equal(gangNeedsCycle(deleted(gang, 'write')), true)
  })

  test('not if it is the status that the scheduler has written', () => {
    assert.equal(gangNeedsCycle(update(gang, gang, 'write')), false)
  })
})
