// SPDX-License-Identifier: Apache-2.0
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@grove/api'
import { defaultPolicy, plan, snapshotFrom } from '../index.ts'
import { gpu, memberPod, node, podGang, topologyBinding } from '../testing/objects.ts'
import type { SnapshotObjects } from '../types.ts'
import { waitingSurplus } from './surplus.ts'

function reasons(objects: SnapshotObjects) {
  const snapshot = snapshotFrom(objects)
  const decision = plan(snapshot, defaultPolicy, 0)
  return waitingSurplus(snapshot, decision, defaultPolicy, 0).map(({ podGroup, pods, explanation }) => [
    podGroup,
    pods,
    explanation.message,
  ])
}

const members = (count: number, spec: Partial<Pod['spec']> = {}) =>
  Array.from({ length: count }, (_, i) =>
    memberPod('g', 'c', i, { [gpu]: '4' }, { spec: { schedulerName: 'grove-scheduler', ...spec } }),
  )

test('surplus pods that find no node wait for capacity, those with a node have no reason', () => {
  const objects = {
    nodes: [node('n', { [gpu]: '8' })],
    pods: members(4),
    podGangs: [podGang('g', [{ name: 'c', min: 1 }])],
  }
  const message = '4 nvidia.com/gpu missing: 4 needed, 0 free on 1 eligible nodes; 2 pods hold the rest'
  deepEqual(reasons(objects), [['c', ['c-2', 'c-3'], message]])
  deepEqual(reasons({ ...objects, pods: members(2) }), [])
})

test('surplus pods name the domain that running pods pin them to', () => {
  const rack = (name: string) => ({ labels: { rack: name } })
  const [first, ...others] = members(2)
  const objects = {
    nodes: [node('a', { [gpu]: '4' }, rack('r1')), node('b', { [gpu]: '8' }, rack('r2'))],
    pods: [{ ...first!, spec: { ...first!.spec, nodeName: 'a' } }, ...others],
    podGangs: [podGang('g', [{ name: 'c', min: 1 }], { topology: 'fabric', required: 'rack' })],
    topologyBindings: [topologyBinding('fabric', { rack: 'rack' })],
  }
  deepEqual(reasons(objects), [['c', ['c-1'], 'PodGang g runs in r1, which lacks 4 nvidia.com/gpu']])
})

test('gated surplus pods and pods of gangs that wait have no reason of their own', () => {
  const objects = {
    nodes: [node('n', { [gpu]: '4' })],
    pods: [...members(1), memberPod('g', 'c', 1, { [gpu]: '4' }, { gated: true })],
    podGangs: [podGang('g', [{ name: 'c', min: 1 }])],
  }
  deepEqual(reasons(objects), [])
  deepEqual(reasons({ ...objects, pods: members(2), podGangs: [podGang('g', [{ name: 'c', min: 2 }])] }), [])
})
