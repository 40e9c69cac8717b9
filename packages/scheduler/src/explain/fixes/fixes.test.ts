// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { defaultPolicy, plan, snapshotFrom } from '../../index.ts'
import { gpu, memberPod, node, pod, podGang } from '../../testing/objects.ts'
import type { Explanation, Fix, SnapshotObjects } from '../../types.ts'

function explanationOf(objects: SnapshotObjects, gang: string): Explanation {
  const { gangs } = plan(snapshotFrom(objects), defaultPolicy, 0)
  return gangs.find(({ name }) => name === gang)!.explanation!
}

function fixOf<Op extends Fix['op']>({ fixes }: Explanation, op: Op): (Fix & { op: Op }) | undefined {
  return fixes.find((fix): fix is Fix & { op: Op } => fix.op === op)
}

const pods = (gang: string, count: number, requests: Record<string, string>, options = {}) =>
  Array.from({ length: count }, (_, i) => memberPod(gang, `${gang}-w`, i, requests, options))
const gang = (name: string, min: number, options = {}) => podGang(name, [{ name: `${name}-w`, min }], options)

test('a scaled gang whose base gang is scheduled by the same plan has fixes', () => {
  const explanation = explanationOf(
    {
      nodes: [node('n', { cpu: '2' })],
      pods: [...pods('base', 1, { cpu: '1' }), ...pods('scaled', 2, { cpu: '1' }, { baseGang: 'base' })],
      podGangs: [gang('base', 1), gang('scaled', 2)],
    },
    'scaled',
  )
  deepEqual(
    explanation.fixes.map(({ op, cost }) => [op, cost]),
    [
      ['LowerMinAvailable', 1],
      ['AddNodes', 1],
    ],
  )
})

test('deleting pods of its base gang is no fix for a scaled gang', () => {
  const explanation = explanationOf(
    {
      nodes: [node('n', { cpu: '4' })],
      pods: [
        ...pods('base', 1, { cpu: '1' }, { spec: { nodeName: 'n' } }),
        ...pods('scaled', 1, { cpu: '3' }, { baseGang: 'base' }),
        pod('other', { cpu: '2' }, { node: 'n' }),
      ],
      podGangs: [gang('base', 1), gang('scaled', 1)],
    },
    'scaled',
  )
  deepEqual(fixOf(explanation, 'DeletePods')?.pods, [{ namespace: 'default', name: 'other' }])
})

test('deleting a pod of an earlier gang is no fix if this gang then takes the room for another pod', () => {
  const explanation = explanationOf(
    {
      nodes: [node('n', { cpu: '4' })],
      pods: [
        ...pods('first', 1, { cpu: '1' }, { spec: { schedulerName: 'grove-scheduler', nodeName: 'n' } }),
        ...[1, 2].map(i => memberPod('first', 'first-w', i, { cpu: '1' })),
        ...pods('second', 1, { cpu: '3' }),
      ],
      podGangs: [
        gang('first', 2, { createdAt: '2026-01-01T00:00:00Z' }),
        gang('second', 1, { createdAt: '2026-01-02T00:00:00Z' }),
      ],
    },
    'second',
  )
  equal(explanation.code, 'HeldForEarlierGang')
  equal(fixOf(explanation, 'DeletePods'), undefined)
})

test('during an update, fixes and causes consider every choice of the pods that form the minimum', () => {
  // One large pod and two small ones; the two small ones can be the minimum.
  const explanation = explanationOf(
    {
      nodes: [node('n', { cpu: '2' })],
      pods: [
        memberPod('g', 'g-w', 0, { cpu: '8' }),
        memberPod('g', 'g-w', 1, { cpu: '1' }),
        memberPod('g', 'g-w', 2, { cpu: '1' }),
        pod('other', { cpu: '1' }, { node: 'n' }),
      ],
      podGangs: [gang('g', 2)],
    },
    'g',
  )
  equal(explanation.code, 'InsufficientCapacity')
  deepEqual(
    explanation.fixes.map(({ op, cost }) => [op, cost]),
    [
      ['LowerMinAvailable', 1],
      ['AddNodes', 1],
      ['DeletePods', 1],
    ],
  )
})

test('during an update, the fewest nodes for any choice of the pods are added', () => {
  // The first two pods need two nodes; the third pod fits next to one of them.
  const explanation = explanationOf(
    {
      nodes: [node('n', { cpu: '3' })],
      pods: [
        ...pods('g', 2, { cpu: '2' }),
        memberPod('g', 'g-w', 2, { cpu: '1' }),
        pod('other', { cpu: '3' }, { node: 'n' }),
      ],
      podGangs: [gang('g', 2)],
    },
    'g',
  )
  equal(fixOf(explanation, 'AddNodes')?.count, 1)
})

test('a small change works although a larger one lets an earlier gang take the room', () => {
  const explanation = explanationOf(
    {
      nodes: [node('n', { cpu: '6' })],
      pods: [
        ...pods('a', 1, { cpu: '6' }),
        ...pods('b', 1, { cpu: '3' }),
        pod('large', { cpu: '4' }, { node: 'n' }),
        pod('small', { cpu: '2' }, { node: 'n' }),
      ],
      podGangs: [gang('a', 1), gang('b', 1)],
    },
    'b',
  )
  deepEqual(fixOf(explanation, 'DeletePods')?.pods, [{ namespace: 'default', name: 'large' }])
})

test('the pods of gangs that come later do not count when nodes to add are counted', () => {
  const explanation = explanationOf(
    {
      nodes: [node('n', { cpu: '2' })],
      pods: [...pods('a', 2, { cpu: '2' }), ...pods('b', 1, { cpu: '2' })],
      podGangs: [gang('a', 2), gang('b', 1)],
    },
    'a',
  )
  equal(fixOf(explanation, 'AddNodes')?.count, 1)
})

test('earlier gangs of the plan may move to added nodes', () => {
  // Each node holds one pod of `b` next to one pod of `a`, but two pods of `a` leave no room.
  const shape = { cpu: '2', pods: '2', 'example.com/nic': '1' }
  const explanation = explanationOf(
    {
      nodes: [node('n', shape)],
      pods: [...pods('a', 2, { cpu: '1' }), ...pods('b', 2, { cpu: '1', 'example.com/nic': '1' })],
      podGangs: [gang('a', 2), gang('b', 2)],
    },
    'b',
  )
  equal(fixOf(explanation, 'AddNodes')?.count, 1)
})

test('PodTooLarge names the resource that the closest node lacks if no single resource is too small everywhere', () => {
  const { code, message } = explanationOf(
    {
      nodes: [node('a', { cpu: '4', [gpu]: '8' }), node('b', { cpu: '64', [gpu]: '1' })],
      pods: pods('g', 1, { cpu: '8', [gpu]: '8' }),
      podGangs: [gang('g', 1)],
    },
    'g',
  )
  equal(code, 'PodTooLarge')
  equal(message, 'a pod of PodClique g-w needs 8 cpu; the largest node a has 4')
})
